// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_graph.h"

#include <algorithm>

namespace geosft {
namespace {

// Converts the weights of A to those of P.
template <typename T>
void divide_by_degree(Links<T>& links, const std::vector<T>& inverse) {
  const std::vector<int64_t>& begin = links.structure.begin;
  if (links.weight.empty()) links.weight.assign(links.structure.to.size(), T(1));
  for (size_t i = 0; i < inverse.size(); ++i) {
    for (int64_t e = begin[i]; e < begin[i + 1]; ++e) links.weight[e] *= inverse[i];
  }
}

template <typename T>
WalkLists<T> lists_of(const Links<T>& links, const NodeOrder& order) {
  const std::vector<int64_t>& begin = links.structure.begin;
  WalkLists<T> lists;
  lists.begin.assign(1, 0);
  for (const int32_t node : order.node) lists.begin.push_back(lists.begin.back() + begin[node + 1] - begin[node]);
  lists.neighbour.reserve(links.structure.to.size());
  lists.weight.reserve(links.weight.size());
  for (int64_t c = 0; c < order.components(); ++c) {
    const int64_t first = order.component_begin[c], last = order.component_begin[c + 1];
    for (int64_t i = first; i < last; ++i) {
      for (int64_t e = begin[order.node[i]]; e < begin[order.node[i] + 1]; ++e) {
        lists.neighbour.push_back(static_cast<int32_t>(order.row[links.structure.to[e]] - first));
        if (!links.weight.empty()) lists.weight.push_back(links.weight[e]);
      }
    }
  }
  return lists;
}

// Returns each component's rows, sorted by their number of links.
LargeArray<int32_t> rows_by_length(const LargeArray<int64_t>& list_begin, const NodeOrder& order) {
  LargeArray<int32_t> sorted(order.node.size());
  for (int64_t c = 0; c < order.components(); ++c) {
    const int64_t first = order.component_begin[c], last = order.component_begin[c + 1];
    for (int64_t i = first; i < last; ++i) sorted[i] = static_cast<int32_t>(i - first);
    const auto length = [&](int32_t row) { return list_begin[first + row + 1] - list_begin[first + row]; };
    std::stable_sort(sorted.begin() + first, sorted.begin() + last,
                     [&](int32_t a, int32_t b) { return length(a) < length(b); });
  }
  return sorted;
}

}  // namespace

template <typename T>
WalkGraph<T> prepare_walks(const at::Tensor& rowptr, const at::Tensor& col, const std::optional<at::Tensor>& weight) {
  Links<T> links = read_links<T>(rowptr, col, weight);
  WalkGraph<T> graph;
  graph.symmetric = is_symmetric(links);
  const std::vector<T> inverse = inverse_degrees(links);
  if (graph.symmetric) {
    graph.order = patched_order(links.structure, nullptr, walk_sources<T>);
  } else {
    divide_by_degree(links, inverse);
    const Links<T> backward = transposed(links);
    graph.order = patched_order(links.structure, &backward.structure, walk_sources<T>);
    graph.in = lists_of(backward, graph.order);
  }
  graph.out = lists_of(links, graph.order);
  graph.by_length = rows_by_length(graph.out.begin, graph.order);
  graph.inverse_degree.reserve(inverse.size());
  for (const int32_t node : graph.order.node) graph.inverse_degree.push_back(inverse[node]);
  return graph;
}

template WalkGraph<float> prepare_walks<float>(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&);
template WalkGraph<double> prepare_walks<double>(const at::Tensor&, const at::Tensor&,
                                                 const std::optional<at::Tensor>&);

}  // namespace geosft
