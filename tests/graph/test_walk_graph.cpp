// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_graph.h"

#include <catch2/catch.hpp>

#include "tests/graph/graphs.h"

namespace geosft::test::test_walk_graph {

namespace {

// The matrix that lists stand for, by nodes.
at::Tensor dense_lists(const WalkGraph<double>& graph, const WalkLists<double>& lists) {
  const int64_t nodes = static_cast<int64_t>(graph.order.node.size());
  at::Tensor matrix = at::zeros({nodes, nodes}, at::kDouble);
  for (int64_t c = 0; c < graph.order.components(); ++c) {
    const int64_t first = graph.order.component_begin[c], size = graph.order.component_begin[c + 1] - first;
    for (int64_t row = first; row < first + size; ++row) {
      for (int64_t e = lists.begin[row]; e < lists.begin[row + 1]; ++e) {
        const double weight = lists.weight.empty() ? 1.0 : lists.weight[e];
        const int64_t from = graph.order.node[row], to = graph.order.node[first + lists.neighbour[e]];
        matrix.data_ptr<double>()[from * nodes + to] += weight;
      }
    }
  }
  return matrix;
}

WalkGraph<double> prepare(const CsrGraph& graph) {
  return prepare_walks<double>(graph.rowptr, graph.col,
                               graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
}

}  // namespace

TEST_CASE("prepare_walks: lists of a symmetric graph are its adjacency matrix") {
  const CsrGraph graph = test::undirected_graph(60, 70, 1, GENERATE(false, true));
  const WalkGraph<double> walks = prepare(graph);
  REQUIRE(walks.symmetric);
  REQUIRE(walks.out.weight.empty() == !graph.weight.defined());
  // Weights of repeated edges in another order: 1.7e-16 at most over 1,000 seeds, and 3.3e-16 where they are divided.
  test::require_close(dense_lists(walks, walks.out), test::dense_adjacency(graph), 1e-14, "adjacency");
  REQUIRE(walks.out.neighbour.size() == static_cast<size_t>(graph.col.numel()));
}

TEST_CASE("prepare_walks: lists of an unsymmetric graph are P and its transpose") {
  const CsrGraph graph = test::random_graph(60, 90, 2, GENERATE(false, true));
  const WalkGraph<double> walks = prepare(graph);
  REQUIRE_FALSE(walks.symmetric);
  const at::Tensor adjacency = test::dense_adjacency(graph), degree = adjacency.sum(1, true);
  const at::Tensor walk = at::where(degree == 0, at::zeros_like(adjacency), adjacency / degree);
  test::require_close(dense_lists(walks, walks.out), walk, 1e-14, "out");
  test::require_close(dense_lists(walks, walks.in), walk.t(), 1e-14, "in");
}

TEST_CASE("prepare_walks: by_length holds the rows of each component, shorter lists first") {
  const WalkGraph<double> walks = prepare(test::undirected_graph(80, 200, 3));
  for (int64_t c = 0; c < walks.order.components(); ++c) {
    const int64_t first = walks.order.component_begin[c], last = walks.order.component_begin[c + 1];
    std::vector<int64_t> seen(static_cast<size_t>(last - first), 0);
    int64_t before = 0;
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = first + walks.by_length[i], length = walks.out.begin[row + 1] - walks.out.begin[row];
      REQUIRE(length >= before);
      REQUIRE(seen[row - first]++ == 0);
      before = length;
    }
  }
}

}  // namespace geosft::test::test_walk_graph
