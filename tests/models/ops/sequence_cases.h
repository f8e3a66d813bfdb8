// SPDX-License-Identifier: Apache-2.0
// sequence_attention as a function of its arguments by name, its reference, and random arguments.
#pragma once

#include "models/ops/sequence_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::sequence_cases {

inline const std::vector<std::string> kArguments{"q",     "k",     "v",     "leak",  "s",     "ss",
                                                 "w_mul", "b_mul", "w_add", "b_add", "q_ptr", "k_ptr"};

inline at::Tensor fused(const Arguments& a) {
  return sequence_attention(a["q"], a["k"], a["v"], a["leak"], a["s"], a["ss"], a["w_mul"], a["b_mul"], a["w_add"],
                            a["b_add"], a.optional("q_ptr"), a.optional("k_ptr"), a.eps);
}

inline at::Tensor slow(const Arguments& a) {
  return reference_sequence(a["q"], a["k"], a["v"], a["leak"], a["s"], a["ss"], a["w_mul"], a["b_mul"], a["w_add"],
                            a["b_add"], a.optional("q_ptr"), a.optional("k_ptr"), a.eps, a.pass);
}

inline Arguments random_sequence(const Sizes& sizes, uint64_t seed, int64_t depth) {
  Arguments a = random_attention(sizes, seed);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  a.tensors["s"] = at::randn({a["q"].size(0), depth}, generator(seed + 1), options);
  a.tensors["ss"] = at::randn({a["k"].size(0), depth}, generator(seed + 2), options);
  add_random_weights(a, depth, seed + 3);
  return a;
}

}  // namespace geosft::test::sequence_cases
