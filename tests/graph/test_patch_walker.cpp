// SPDX-License-Identifier: Apache-2.0
#include "graph/patch_walker.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/graph/graphs.h"

namespace geosft::test::test_patch_walker {

namespace {

// All patches of a graph by one walker, as the operator would have them.
at::Tensor follow(const CsrGraph& graph, int64_t steps) {
  const WalkGraph<double> walks = prepare_walks<double>(
      graph.rowptr, graph.col, graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
  at::Tensor out = at::full({graph.nodes(), steps}, -1.0, at::kDouble);
  PatchWalker<double> walker(walks, graph.nodes());
  for (int64_t c = 0; c < walks.order.components(); ++c) {
    const int64_t size = walks.order.component_begin[c + 1] - walks.order.component_begin[c];
    for (int64_t first = 0; first < size; first += walk_sources<double>) {
      walker.run(c, first, steps, out.data_ptr<double>());
    }
  }
  return out;
}

void require_exact(const CsrGraph& graph, int64_t steps) {
  test::require_close(follow(graph, steps), test::dense_random_walk_pe(graph, steps), 1e-12, "return probabilities");
}

}  // namespace

TEST_CASE("PatchWalker: sparse walks, walks that fill their component, odd and even numbers of steps") {
  const int64_t steps = GENERATE(1, 2, 7, 12);
  require_exact(test::torus(13), steps);
  require_exact(test::undirected_graph(150, 100, 1), steps);
  require_exact(test::undirected_graph(100, 600, 2), steps);
}

TEST_CASE("PatchWalker: weights, and a node whose weights cancel") {
  require_exact(test::undirected_graph(120, 200, 3, true), 9);
  CsrGraph graph = symmetrized(test::graph_of(4, {{0, 1}, {1, 2}, {2, 3}}));
  graph.weight = at::tensor({1.0, -1.0, 1.0, 3.0, -1.0, 3.0}, at::kDouble);
  require_exact(graph, 6);
}

TEST_CASE("PatchWalker: unsymmetric graphs, weighted or not") {
  const int64_t steps = GENERATE(1, 2, 9);
  require_exact(test::random_graph(150, 220, 4), steps);
  require_exact(test::random_graph(60, 400, 5, true), steps);
  require_exact(test::graph_of(5, {{0, 1}, {1, 2}, {2, 0}, {3, 3}, {3, 4}}), steps);
}

}  // namespace geosft::test::test_patch_walker
