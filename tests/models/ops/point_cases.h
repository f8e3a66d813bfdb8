// SPDX-License-Identifier: Apache-2.0
// point_attention as a function of its arguments by name, its reference, and random arguments.
#pragma once

#include "models/ops/point_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::point_cases {

inline const std::vector<std::string> kArguments{"q",  "k",     "v",     "leak",  "x",     "xs",    "m",
                                                 "ms", "w_mul", "b_mul", "w_add", "b_add", "q_ptr", "k_ptr"};

inline at::Tensor fused(const Arguments& a) {
  return point_attention(a["q"], a["k"], a["v"], a["leak"], a["x"], a["xs"], a.optional("m"), a.optional("ms"),
                         a["w_mul"], a["b_mul"], a["w_add"], a["b_add"], a.optional("q_ptr"), a.optional("k_ptr"),
                         a.eps);
}

inline at::Tensor slow(const Arguments& a) {
  return reference_point(a["q"], a["k"], a["v"], a["leak"], a["x"], a["xs"], a.optional("m"), a.optional("ms"),
                         a["w_mul"], a["b_mul"], a["w_add"], a["b_add"], a.optional("q_ptr"), a.optional("k_ptr"),
                         a.eps, a.pass);
}

// channels: 1 without normals; 2, 4 or 5 with them.
inline Arguments random_points(const Sizes& sizes, uint64_t seed, int64_t channels) {
  Arguments a = random_attention(sizes, seed);
  const int64_t nq = a["q"].size(0), nk = a["k"].size(0);
  for (const auto& [name, rows] : {std::pair("x", nq), std::pair("xs", nk), std::pair("m", nq), std::pair("ms", nk)}) {
    if (name[0] == 'm' && channels == 1) continue;
    a.tensors[name] = at::randn({rows, 3}, generator(++seed), at::TensorOptions().dtype(at::kDouble));
  }
  add_random_weights(a, channels, seed);
  return a;
}

inline void require_references(int64_t channels, uint64_t seed) {
  for (const Sizes& sizes : awkward_sizes()) {
    require_reference(fused, slow, random_points(sizes, ++seed, channels), std::to_string(channels) + " channels");
  }
}

}  // namespace geosft::test::point_cases
