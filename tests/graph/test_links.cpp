// SPDX-License-Identifier: Apache-2.0
#include "graph/links.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/graph/graphs.h"

namespace geosft::test::test_links {
using test::require_error;

namespace {

Links<double> links_of(const CsrGraph& graph) {
  return read_links<double>(graph.rowptr, graph.col,
                            graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
}

}  // namespace

TEST_CASE("read_links: rows are sorted, weights go along, duplicates stay") {
  CsrGraph graph = test::graph_of(3, {{0, 2}, {0, 1}, {0, 2}, {2, 0}});
  graph.weight = at::tensor({5.0, 7.0, 3.0, 1.0}, at::kDouble);
  const Links<double> links = links_of(graph);
  REQUIRE(links.structure.begin == std::vector<int64_t>{0, 3, 3, 4});
  REQUIRE(links.structure.to == std::vector<int32_t>{1, 2, 2, 0});
  REQUIRE(links.weight == std::vector<double>{7, 3, 5, 1});
}

TEST_CASE("read_links: equal positive weights are left out, zeros are not") {
  CsrGraph graph = test::cycle(4);
  graph.weight = at::full({8}, 2.5, at::kDouble);
  REQUIRE(links_of(graph).weight.empty());
  graph.weight = at::zeros({8}, at::kDouble);
  REQUIRE(links_of(graph).weight.size() == 8);
}

TEST_CASE("is_symmetric: exact, duplicates and weights included") {
  REQUIRE(is_symmetric(links_of(test::undirected_graph(40, 120, 1, true))));
  REQUIRE(is_symmetric(links_of(test::graph_of(3, {{0, 0}}))));
  REQUIRE(is_symmetric(links_of(test::graph_of(2, {}))));
  REQUIRE_FALSE(is_symmetric(links_of(test::graph_of(3, {{0, 1}}))));
  REQUIRE_FALSE(is_symmetric(links_of(test::graph_of(3, {{0, 1}, {1, 2}, {2, 0}}))));
  REQUIRE_FALSE(is_symmetric(links_of(test::graph_of(2, {{0, 1}, {0, 1}, {1, 0}}))));
  CsrGraph graph = test::path(2);
  graph.weight = at::tensor({1.0, 1.0 + 1e-15}, at::kDouble);
  REQUIRE_FALSE(is_symmetric(links_of(graph)));
}

TEST_CASE("transposed links and inverse degrees: against the dense matrix") {
  const CsrGraph graph = test::random_graph(15, 40, 2, true);
  const Links<double> backward = transposed(links_of(graph));
  const Links<double> expected = links_of(geosft::transposed(graph));
  REQUIRE(backward.structure.begin == expected.structure.begin);
  REQUIRE(backward.structure.to == expected.structure.to);
  const at::Tensor degree = test::dense_adjacency(graph).sum(1);
  const std::vector<double> inverse = inverse_degrees(links_of(graph));
  test::require_close(at::tensor(inverse, at::kDouble), at::where(degree == 0, at::zeros_like(degree), 1 / degree),
                      1e-14, "inverse degrees");  // 1.8e-16 at most over 1,000 seeds
}

TEST_CASE("read_links: weights that are not finite are refused by name") {
  CsrGraph graph = test::path(2);
  graph.weight = at::tensor({1.0, std::numeric_limits<double>::quiet_NaN()}, at::kDouble);
  require_error([&] { links_of(graph); }, {"weight", "entry 1"});
}

}  // namespace geosft::test::test_links
