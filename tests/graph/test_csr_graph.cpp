// SPDX-License-Identifier: Apache-2.0
#include "graph/csr_graph.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/graph/graphs.h"
#include "tests/tensors.h"

namespace geosft::test::test_csr_graph {
using test::require_equal;
using test::require_error;
using test::require_same_graph;

TEST_CASE("graph_from_edges: edges of a node stay in order, with their features and weights") {
  const CsrGraph graph = graph_from_edges(longs({2, 0, 2, 0, 2}), longs({1, 2, 0, 2, 1}), 4,
                                          at::arange(10, at::kFloat).view({5, 2}), at::arange(5, at::kDouble));
  require_equal(graph.rowptr, longs({0, 2, 2, 5, 5}), "rowptr");
  require_equal(graph.col, longs({2, 2, 1, 0, 1}), "col");
  require_equal(graph.weight, at::tensor({1.0, 3.0, 0.0, 2.0, 4.0}, at::kDouble), "weight");
  require_equal(graph.edge_attr.select(1, 0), at::tensor({2, 6, 0, 4, 8}, at::kFloat), "edge_attr");
  require_equal(edge_sources(graph), longs({0, 0, 2, 2, 2}), "sources");
  REQUIRE(graph.nodes() == 4);
  REQUIRE(graph.edges() == 5);
}

TEST_CASE("graph_from_edges: no edges, no nodes") {
  const CsrGraph isolated = graph_from_edges(longs({}), longs({}), 3);
  require_equal(isolated.rowptr, longs({0, 0, 0, 0}), "rowptr");
  check_graph(isolated);
  check_graph(graph_from_edges(longs({}), longs({}), 0));
}

TEST_CASE("transposed: every edge turned round, twice is the graph with sorted rows") {
  const CsrGraph graph = test::random_graph(30, 80, 1, true);
  const CsrGraph turned = transposed(graph);
  // Weights of repeated edges in the same order: the same bits over 1,000 seeds.
  test::require_close(test::dense_adjacency(turned), test::dense_adjacency(graph).t(), 1e-12, "adjacency");
  require_same_graph(transposed(transposed(turned)), turned);
}

TEST_CASE("symmetrized: what is missing is added, with its features, and nothing else") {
  const CsrGraph graph =
      graph_from_edges(longs({0, 1, 1, 2, 2, 2}), longs({1, 0, 2, 2, 0, 0}), 3, at::arange(6, at::kLong).unsqueeze(1));
  const CsrGraph both = symmetrized(graph);
  require_equal(both.rowptr, longs({0, 3, 5, 9}), "rowptr");
  require_equal(both.col, longs({1, 2, 2, 0, 2, 2, 0, 0, 1}), "col");
  require_equal(both.edge_attr.squeeze(1), longs({0, 4, 5, 1, 2, 3, 4, 5, 2}), "edge_attr");
  require_same_graph(symmetrized(both), both);
}

TEST_CASE("symmetrized: every edge has a partner, as often as it is stored") {
  const CsrGraph graph = test::random_graph(12, 60, 2);
  const at::Tensor before = test::dense_adjacency(graph), after = test::dense_adjacency(symmetrized(graph));
  require_equal(after, at::maximum(before, before.t()), "adjacency");
}

TEST_CASE("induced_subgraph: against the dense adjacency matrix") {
  const CsrGraph graph = test::random_graph(20, 90, 3, true);
  const at::Tensor rows = longs({7, 3, 19, 0, 4, 11});
  const CsrGraph part = induced_subgraph(graph, rows);
  require_equal(test::dense_adjacency(part), test::dense_adjacency(graph).index_select(0, rows).index_select(1, rows),
                "adjacency");
  REQUIRE(part.edge_attr.sizes() == at::IntArrayRef({part.edges(), 2}));
  REQUIRE(induced_subgraph(graph, longs({})).nodes() == 0);
}

TEST_CASE("permuted: back and forth is the same graph") {
  const CsrGraph graph = test::random_graph(25, 100, 4, true);
  const at::Tensor order = at::randperm(25, test::generator(5), at::kLong);
  const CsrGraph there = permuted(graph, order);
  require_equal(test::dense_adjacency(there),
                test::dense_adjacency(graph).index_select(0, order).index_select(1, order), "adjacency");
  require_same_graph(permuted(there, order.argsort()), graph);
}

TEST_CASE("csr graph: bad arguments are refused by name") {
  const CsrGraph good = test::random_graph(4, 6, 6, true);
  const auto with_rowptr = [&](const at::Tensor& rowptr) { return CsrGraph{rowptr, good.col, {}, {}}; };
  require_error([&] { check_graph(with_rowptr(longs({1, 2, 3, 4, 6}))); }, {"rowptr", "begin with 0", "1"});
  require_error([&] { check_graph(with_rowptr(longs({0, 3, 2, 4, 6}))); }, {"rowptr", "decrease", "entry 2"});
  require_error([&] { check_graph(with_rowptr(longs({0, 3, 3, 4, 5}))); }, {"rowptr", "6", "5"});
  require_error([&] { check_graph(with_rowptr(longs({}))); }, {"rowptr", "[0]"});
  require_error([&] { check_graph(with_rowptr(good.rowptr.to(at::kInt))); }, {"rowptr", "Int"});
  require_error([&] { check_graph({}); }, {"rowptr", "undefined"});
  require_error([&] { check_graph({good.rowptr, good.col.to(at::kFloat), {}, {}}); }, {"col", "Float"});
  require_error([&] { check_graph({good.rowptr, good.col.view({2, 3}), {}, {}}); }, {"col", "[2, 3]"});
  require_error([&] { check_graph({good.rowptr, good.col + 4, {}, {}}); }, {"col", "0 … 3", "entry 0"});
  require_error([&] { check_graph({good.rowptr, good.col, at::ones({5, 1}), {}}); }, {"edge_attr", "6", "[5, 1]"});
  require_error([&] { check_graph({good.rowptr, good.col, {}, at::ones({7})}); }, {"weight", "6", "[7]"});
  require_error([&] { check_graph({good.rowptr, good.col, {}, at::ones({6}, at::kLong)}); }, {"weight", "Long"});
  require_error(
      [&] {
        check_graph({good.rowptr, good.col, {}, at::arange(6).to(at::kFloat) - 1});
      },
      {"weight", "finite and not negative", "entry 0 is -1"});
  require_error([&] { check_edge_weights(at::tensor({1.0, std::nan("")}, at::kDouble)); }, {"entry 1 is nan"});
  require_error([&] { graph_from_edges(longs({0}), longs({0, 1}), 2); }, {"source", "target", "1", "2"});
  require_error([&] { graph_from_edges(longs({0}), longs({2}), 2); }, {"target", "entry 0 is 2"});
  require_error([&] { graph_from_edges(longs({-1}), longs({0}), 2); }, {"source", "-1"});
  require_error([&] { graph_from_edges(longs({}), longs({}), -2); }, {"nodes", "-2"});
  require_error([&] { induced_subgraph(good, longs({1, 2, 1})); }, {"rows", "distinct", "node 1"});
  require_error([&] { induced_subgraph(good, longs({4})); }, {"rows", "4"});
  require_error([&] { permuted(good, longs({0, 1})); }, {"order", "4", "[2]"});
}

TEST_CASE("redundant_edges: self-loops, and edges that repeat another one") {
  const RedundantEdges found =
      redundant_edges(test::graph_of(3, {{0, 1}, {1, 1}, {0, 1}, {1, 0}, {0, 1}, {2, 2}, {2, 2}}));
  REQUIRE(found.self_loops == 3);
  REQUIRE(found.repeated == 2);
  REQUIRE(redundant_edges(test::graph_of(0, {})).repeated == 0);
}

}  // namespace geosft::test::test_csr_graph
