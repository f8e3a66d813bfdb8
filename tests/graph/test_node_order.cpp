// SPDX-License-Identifier: Apache-2.0
#include "graph/node_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/graph/graphs.h"

namespace geosft::test::test_node_order {

namespace {

LinkStructure structure_of(const CsrGraph& graph) {
  return read_links<float>(graph.rowptr, graph.col, std::nullopt).structure;
}

void require_permutation(const NodeOrder& order, int64_t nodes) {
  REQUIRE(std::set<int32_t>(order.node.begin(), order.node.end()).size() == static_cast<size_t>(nodes));
  for (int64_t row = 0; row < nodes; ++row) REQUIRE(order.row[order.node[row]] == row);
  REQUIRE(order.component_begin.back() == nodes);
}

}  // namespace

TEST_CASE("breadth_first_order: components by lowest node, nodes by distance") {
  const NodeOrder order =
      breadth_first_order(structure_of(symmetrized(test::graph_of(7, {{0, 5}, {0, 3}, {3, 6}, {1, 2}}))), nullptr);
  REQUIRE(order.component_begin == std::vector<int64_t>{0, 4, 6, 7});
  REQUIRE(order.node == std::vector<int32_t>{0, 3, 5, 6, 1, 2, 4});
  require_permutation(order, 7);
}

TEST_CASE("patched_order: patches of a torus are round and stay within components") {
  const CsrGraph graph = test::torus(16);
  const NodeOrder order = patched_order(structure_of(graph), nullptr, 16);
  require_permutation(order, 256);
  int64_t widest = 0;
  for (int64_t patch = 0; patch < 4; ++patch) {  // the first patches grow freely
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t a = order.node[patch * 16], b = order.node[patch * 16 + i];
      const auto gap = [](int64_t from, int64_t to) { return std::min((from - to + 16) % 16, (to - from + 16) % 16); };
      widest = std::max(widest, gap(a / 16, b / 16) + gap(a % 16, b % 16));
    }
  }
  REQUIRE(widest <= 8);
}

TEST_CASE("patched_order: the components of the breadth-first order") {
  const LinkStructure structure = structure_of(test::undirected_graph(300, 160, 1));
  const NodeOrder plain = breadth_first_order(structure, nullptr), patched = patched_order(structure, nullptr, 8);
  require_permutation(patched, 300);
  REQUIRE(patched.component_begin == plain.component_begin);
  for (int64_t c = 0; c < plain.components(); ++c) {
    const auto nodes = [&](const NodeOrder& order) {
      return std::set<int32_t>(order.node.begin() + order.component_begin[c],
                               order.node.begin() + order.component_begin[c + 1]);
    };
    REQUIRE(nodes(patched) == nodes(plain));
  }
}

TEST_CASE("connected_components: directions aside, numbered by the lowest node") {
  const CsrGraph graph = test::graph_of(8, {{5, 0}, {6, 1}, {1, 7}, {3, 3}, {4, 5}});
  test::require_equal(connected_components(graph), at::tensor({0, 1, 2, 3, 0, 0, 1, 1}, at::kLong), "components");
  REQUIRE(connected_components(test::graph_of(0, {})).size(0) == 0);
}

}  // namespace geosft::test::test_node_order
