// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/graph_edges.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <tuple>

#include "graph/csr_graph.h"

namespace geosft {
namespace {

void check_node(const char* name, int64_t key, int64_t node, int64_t begin, int64_t end) {
  TORCH_CHECK(node >= begin && node < end, name, " must be a row of the key's own item, in [", begin, ", ", end,
              "): entry ", key, " is ", node);
}

}  // namespace

SampledNodes::SampledNodes(const EdgeArrays& graph, const std::vector<int64_t>& q_offsets,
                           const std::vector<int64_t>& k_offsets) {
  check_csr_values(graph.rowptr, graph.nodes, graph.col, graph.edges);
  entries_.reserve(static_cast<size_t>(2 * graph.keys));
  for (size_t b = 0; b + 1 < k_offsets.size(); ++b) {
    for (int64_t j = k_offsets[b]; j < k_offsets[b + 1]; ++j) {
      check_node("top", j, graph.top[j], q_offsets[b], q_offsets[b + 1]);
      check_node("partner", j, graph.partner[j], q_offsets[b], q_offsets[b + 1]);
      entries_.push_back({graph.top[j], 2 * j});
      entries_.push_back({graph.partner[j], 2 * j + 1});
    }
    std::sort(entries_.begin() + 2 * k_offsets[b], entries_.end(), [](const Entry& left, const Entry& right) {
      return std::tie(left.node, left.code) < std::tie(right.node, right.code);
    });
  }
}

void TouchedBlock::find(const EdgeArrays& graph, const SampledNodes& sampled, int64_t first, int64_t rows,
                        int64_t k_begin, int64_t k_end) {
  touches.clear();
  pairs.clear();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = graph.rowptr[first + i]; e < graph.rowptr[first + i + 1]; ++e) {
      sampled.visit(graph.col[e], k_begin, k_end, [&](int64_t code) { touches.push_back({code / 2, i, code % 2, e}); });
    }
  }
  std::sort(touches.begin(), touches.end(), [](const Touch& left, const Touch& right) {
    return std::tie(left.key, left.query, left.which, left.edge) <
           std::tie(right.key, right.query, right.which, right.edge);
  });
  for (size_t t = 0; t < touches.size(); ++t) {
    const Touch& touch = touches[t];
    if (pairs.empty() || pairs.back().key != touch.key || pairs.back().query != touch.query) {
      pairs.push_back({touch.key, touch.query, static_cast<int64_t>(t), static_cast<int64_t>(t)});
    }
    ++pairs.back().end;
  }
}

size_t TouchedBlock::first_pair(int64_t key) const {
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), key,
                                      [](const TouchedPair& pair, int64_t value) { return pair.key < value; });
  return static_cast<size_t>(found - pairs.begin());
}

}  // namespace geosft
