// SPDX-License-Identifier: Apache-2.0
// What the tests of the walkers share: a walker followed through a whole graph, against dense matrix powers.
#pragma once

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <optional>

#include "graph/walk_graph.h"
#include "tests/graph/graphs.h"

namespace geosft::test {

// All sources of a graph by one walker, as the operator would have them; `symmetric` is what the graph must be found to
// be.
template <class Walker>
void require_exact_walks(const CsrGraph& graph, int64_t steps, bool symmetric = true) {
  const WalkGraph<double> walks = prepare_walks<double>(
      graph.rowptr, graph.col, graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
  REQUIRE(walks.symmetric == symmetric);
  at::Tensor out = at::full({graph.nodes(), steps}, -1.0, at::kDouble);
  Walker walker(walks, graph.nodes());
  for (int64_t c = 0; c < walks.order.components(); ++c) {
    const int64_t size = walks.order.component_begin[c + 1] - walks.order.component_begin[c];
    for (int64_t first = 0; first < size; first += walk_sources<double>) {
      walker.run(c, first, steps, out.data_ptr<double>());
    }
  }
  // Largest difference over 1,000 seeds: 5.3e-16.
  require_close(out, dense_random_walk_pe(graph, steps), 1e-13, "return probabilities");
}

// Sparse walks, walks that fill their component, weights, and nodes whose edges all weigh nothing.
template <class Walker>
void require_exact_symmetric_walks(int64_t steps) {
  require_exact_walks<Walker>(torus(13), steps);
  require_exact_walks<Walker>(undirected_graph(150, 100, 1), steps);
  require_exact_walks<Walker>(undirected_graph(100, 600, 2), steps);
  require_exact_walks<Walker>(undirected_graph(120, 200, 3, true), steps);
  CsrGraph weightless = symmetrized(graph_of(4, {{0, 1}, {1, 2}, {2, 3}}));
  weightless.weight = at::tensor({1.0, 0.0, 1.0, 0.0, 0.0, 0.0}, at::kDouble);
  require_exact_walks<Walker>(weightless, steps);
}

}  // namespace geosft::test
