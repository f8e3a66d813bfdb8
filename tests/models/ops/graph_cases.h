// SPDX-License-Identifier: Apache-2.0
// graph_attention as a function of its arguments by name, its reference, and random graphs.
#pragma once

#include "models/ops/graph_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test::graph_cases {

inline const std::vector<std::string> kArguments{"q",         "k",     "v",       "leak",   "rowptr", "col",
                                                 "edge_attr", "top",   "partner", "weight", "w_mul",  "b_mul",
                                                 "w_add",     "b_add", "q_ptr",   "k_ptr"};

inline at::Tensor fused(const Arguments& a) {
  return graph_attention(a["q"], a["k"], a["v"], a["leak"], a["rowptr"], a["col"], a["edge_attr"], a["top"],
                         a["partner"], a["weight"], a["w_mul"], a["b_mul"], a["w_add"], a["b_add"], a.optional("q_ptr"),
                         a.optional("k_ptr"), a.eps);
}

inline at::Tensor slow(const Arguments& a) {
  return reference_graph(a["q"], a["k"], a["v"], a["leak"], a["rowptr"], a["col"], a["edge_attr"], a["top"],
                         a["partner"], a["weight"], a["w_mul"], a["b_mul"], a["w_add"], a["b_add"], a.optional("q_ptr"),
                         a.optional("k_ptr"), a.eps, a.pass);
}

// `degree` random edges a node, within its item or (every seventh) anywhere; keys of an item without nodes are left
// out.
inline Arguments random_graph(const Sizes& sizes, uint64_t seed, int64_t channels, int64_t degree) {
  Arguments a = random_attention(sizes, seed);
  at::Generator random = generator(seed + 1);
  const auto random_row = [&](int64_t begin, int64_t end) {
    return begin + at::randint(end - begin, {1}, random, at::TensorOptions().dtype(at::kLong)).item<int64_t>();
  };
  const int64_t nodes = a["q"].size(0), keys = a["k"].size(0);
  std::vector<int64_t> rowptr{0}, col, top, partner;
  for (size_t b = 0; b < sizes.queries.size(); ++b) {
    const int64_t begin = a["q_ptr"][static_cast<int64_t>(b)].item<int64_t>(), end = begin + sizes.queries[b];
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t e = 0; e < degree; ++e) {
        const bool anywhere = col.size() % 7 == 0;
        col.push_back(random_row(anywhere ? 0 : begin, anywhere ? nodes : end));
      }
      rowptr.push_back(static_cast<int64_t>(col.size()));
    }
    for (int64_t j = 0; j < sizes.keys[b]; ++j) {
      top.push_back(random_row(begin, end));
      partner.push_back(random_row(begin, end));
    }
  }
  const auto options = at::TensorOptions().dtype(at::kDouble);
  a.tensors["rowptr"] = at::tensor(rowptr, at::kLong);
  a.tensors["col"] = at::tensor(col, at::kLong);
  a.tensors["top"] = at::tensor(top, at::kLong);
  a.tensors["partner"] = at::tensor(partner, at::kLong);
  a.tensors["weight"] = at::rand({keys}, generator(seed + 2), options);
  a.tensors["edge_attr"] = at::randn({static_cast<int64_t>(col.size()), channels}, generator(seed + 3), options);
  add_random_weights(a, channels, seed + 4);
  return a;
}

}  // namespace geosft::test::graph_cases
