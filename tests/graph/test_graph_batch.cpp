// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_batch.h"

#include <ATen/record_function.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/graph/graphs.h"

namespace geosft::test::test_graph_batch {
using test::require_equal;
using test::require_error;

namespace {

std::vector<CsrGraph> some_graphs() {
  return {test::random_graph(5, 12, 1, true), test::random_graph(1, 2, 4, true), test::random_graph(7, 0, 7, true),
          test::random_graph(9, 30, 10, true)};
}

}  // namespace

TEST_CASE("concatenated: items come back as they were") {
  const std::vector<CsrGraph> graphs = some_graphs();
  const GraphBatch batch = concatenated(graphs);
  check_batch(batch);
  require_equal(batch.ptr, at::tensor({0, 5, 6, 13, 22}, at::kLong), "ptr");
  REQUIRE(batch.items() == 4);
  for (int64_t b = 0; b < 4; ++b) test::require_same_graph(graph_of_item(batch, b), graphs[b]);
}

TEST_CASE("induced_subgraph of a batch: item by item, some left empty") {
  const std::vector<CsrGraph> graphs = some_graphs();
  const GraphBatch part = induced_subgraph(concatenated(graphs), at::tensor({0, 3, 6, 12, 21, 13}, at::kLong));
  check_batch(part);
  require_equal(part.ptr, at::tensor({0, 2, 2, 4, 6}, at::kLong), "ptr");
  test::require_same_graph(graph_of_item(part, 0), induced_subgraph(graphs[0], at::tensor({0, 3}, at::kLong)));
  test::require_same_graph(graph_of_item(part, 3), induced_subgraph(graphs[3], at::tensor({8, 0}, at::kLong)));
}

TEST_CASE("no graphs are a batch of no items") {
  const GraphBatch none = concatenated({});
  check_batch(none);
  REQUIRE(none.items() == 0);
  REQUIRE(none.graph.nodes() == 0);
  REQUIRE(none.graph.edges() == 0);
  REQUIRE_FALSE(none.graph.edge_attr.defined());
  const GraphBatch part = induced_subgraph(none, at::empty({0}, at::kLong));
  require_equal(part.ptr, none.ptr, "ptr");
  require_error([&] { graph_of_item(none, 0); }, {"b must"});
}

TEST_CASE("graph batch: bad arguments are refused by name") {
  const GraphBatch batch = concatenated(some_graphs());
  CsrGraph bare = some_graphs()[0];
  bare.edge_attr = at::Tensor();
  require_error([&] { concatenated({some_graphs()[0], bare}); }, {"edge_attr", "0 and 1"});
  bare.edge_attr = at::ones({bare.edges(), 3});
  require_error([&] { concatenated({some_graphs()[0], bare}); }, {"edge_attr", "width"});
  require_error([&] { check_batch({batch.graph, at::tensor({0, 3, 22}, at::kLong)}); }, {"col", "items", "edge"});
  require_error([&] { check_batch({batch.graph, at::tensor({0, 21}, at::kLong)}); }, {"ptr", "22"});
  require_error([&] { graph_of_item(batch, 4); }, {"b must", "4"});
  require_error([&] { induced_subgraph(batch, at::tensor({6, 0}, at::kLong)); }, {"rows", "item 0"});
}

TEST_CASE("a batch is checked once when a part of it is taken") {
  const GraphBatch batch = concatenated(some_graphs());
  static int listed;  // how often the edges' sources, with which the check begins, were made
  listed = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        listed += std::string(call.name()) == "aten::diff";
        return nullptr;
      }));
  induced_subgraph(batch, at::tensor({0, 2, 8}, at::kLong));
  at::removeCallback(handle);
  CHECK(listed == 1);
  require_error([&] { induced_subgraph(batch.graph, at::tensor({0}, at::kLong), at::zeros({1}, at::kLong)); },
                {"sources", "[1]"});
}

}  // namespace geosft::test::test_graph_batch
