// SPDX-License-Identifier: Apache-2.0
// A packed batch of small graphs with every kind of feature.
#pragma once

#include "graph/featured_graphs.h"
#include "tests/graph/graphs.h"

namespace geosft::test {

// Undirected graphs of these sizes, about twice as many edges as nodes (none where `edges` is false), loops and
// duplicates among them: two columns of categories below 3 and 5 at nodes and one below 4 at edges, two values each.
inline FeaturedGraphs featured_graphs(const std::vector<int64_t>& sizes, uint64_t seed, bool edges = true) {
  std::vector<CsrGraph> graphs;
  for (size_t b = 0; b < sizes.size(); ++b) {
    CsrGraph graph =
        edges && sizes[b] > 0 ? undirected_graph(sizes[b], 2 * sizes[b], seed + 3 * b) : graph_of(sizes[b], {});
    graph.edge_attr = at::Tensor();
    graphs.push_back(graph);
  }
  FeaturedGraphs packed;
  packed.graphs = concatenated(graphs);
  const int64_t nodes = packed.graphs.graph.nodes(), count = packed.graphs.graph.edges();
  at::Generator random = generator(seed + 1000);
  packed.node_categories =
      at::stack({at::randint(0, 3, {nodes}, random, at::kLong), at::randint(0, 5, {nodes}, random, at::kLong)}, 1);
  packed.node_values = at::randn({nodes, 2}, random);
  packed.edge_categories = at::randint(0, 4, {count, 1}, random, at::kLong);
  packed.edge_values = at::randn({count, 2}, random);
  packed.coordinates = at::randn({nodes, 3}, random);
  packed.node_encoding = at::randn({nodes, 4}, random);
  return packed;
}

}  // namespace geosft::test
