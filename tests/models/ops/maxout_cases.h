// SPDX-License-Identifier: Apache-2.0
// maxout_attention as a function of its arguments by name, its reference, and random arguments.
#pragma once

#include "models/ops/maxout_attention.h"
#include "tests/models/ops/attention_cases.h"
#include "tests/models/ops/reference.h"

namespace geosft::test::maxout_cases {

inline const std::vector<std::string> kArguments{"q", "k", "v", "leak", "r_mul", "r_add", "q_ptr", "k_ptr"};

inline at::Tensor fused(const Arguments& a) {
  return maxout_attention(a["q"], a["k"], a["v"], a["leak"], a.optional("r_mul"), a.optional("r_add"),
                          a.optional("q_ptr"), a.optional("k_ptr"), a.eps);
}

inline at::Tensor slow(const Arguments& a) {
  return reference_maxout(a["q"], a["k"], a["v"], a["leak"], a.optional("r_mul"), a.optional("r_add"),
                          a.optional("q_ptr"), a.optional("k_ptr"), a.eps);
}

inline Arguments with_relative(const Sizes& sizes, uint64_t seed, bool mul = true, bool add = true) {
  Arguments a = random_attention(sizes, seed);
  int64_t pairs = 0;
  for (size_t b = 0; b < sizes.queries.size(); ++b) pairs += sizes.queries[b] * sizes.keys[b];
  const auto options = at::TensorOptions().dtype(at::kDouble);
  if (mul) a.tensors["r_mul"] = at::rand({pairs, sizes.heads}, generator(seed + 1), options) + 0.1;
  if (add) a.tensors["r_add"] = at::randn({pairs, sizes.heads}, generator(seed + 2), options);
  return a;
}

}  // namespace geosft::test::maxout_cases
