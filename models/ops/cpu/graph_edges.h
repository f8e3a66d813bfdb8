// SPDX-License-Identifier: Apache-2.0
// Finds the edges of a graph that lead to sampled keys, for one block of queries after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ops/cpu/attention_problem.h"

namespace geosft {

// CSR of the packed graphs, and the two nodes of every key.
struct EdgeArrays {
  const int64_t* rowptr;
  const int64_t* col;
  const int64_t* top;
  const int64_t* partner;
  int64_t nodes, edges, keys;
};

// The keys that contain each node, sorted by node: code 2 j for top[j], 2 j + 1 for partner[j].
class SampledNodes {
 public:
  struct Entry {
    int64_t node, code;
  };

  // Checks rowptr, col, top and partner; the error message names the argument.
  SampledNodes(const EdgeArrays& graph, const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets);

  // Calls visit(code) for every key that contains `node` and is one of the keys [k_begin, k_end) of its item.
  template <class Visit>
  void visit(int64_t node, int64_t k_begin, int64_t k_end, const Visit& visit_code) const {
    const auto begin = entries_.begin() + 2 * k_begin, end = entries_.begin() + 2 * k_end;
    const auto before = [](const Entry& entry, int64_t value) { return entry.node < value; };
    for (auto at = std::lower_bound(begin, end, node, before); at != end && at->node == node; ++at)
      visit_code(at->code);
  }

 private:
  std::vector<Entry> entries_;
};

// A query and a key that at least one edge touches; its edges are touches [begin, end).
struct TouchedPair {
  int64_t key, query;  // packed key row; row within the block
  int64_t begin, end;
};
struct Touch {
  int64_t key, query;
  int64_t which;  // 0 through top, 1 through partner
  int64_t edge;
};

// All touched pairs of queries [first, first + rows) with keys [k_begin, k_end), sorted by key, then query; the touches
// of a pair are sorted by `which`, then edge.
struct TouchedBlock {
  std::vector<Touch> touches;
  std::vector<TouchedPair> pairs;

  void find(const EdgeArrays& graph, const SampledNodes& sampled, int64_t first, int64_t rows, int64_t k_begin,
            int64_t k_end);
  // Index of the first pair whose key is at least `key`.
  size_t first_pair(int64_t key) const;
};

}  // namespace geosft
