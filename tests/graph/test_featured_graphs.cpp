// SPDX-License-Identifier: Apache-2.0
#include "graph/featured_graphs.h"

#include <catch2/catch.hpp>

#include "tests/graph/featured.h"

namespace geosft::test::test_featured_graphs {
namespace {

// Nodes and edges of `part` as those of `whole` at node rows `rows`: every feature, and for every pair of nodes the
// edges between them with all that they carry.
void require_part(const FeaturedGraphs& part, const FeaturedGraphs& whole, const at::Tensor& rows) {
  require_equal(part.node_categories, whole.node_categories.index_select(0, rows), "node_categories");
  require_equal(part.node_values, whole.node_values.index_select(0, rows), "node_values");
  require_equal(part.coordinates, whole.coordinates.index_select(0, rows), "coordinates");
  require_equal(part.node_encoding, whole.node_encoding.index_select(0, rows), "node_encoding");
  const auto of_pairs = [](const FeaturedGraphs& graphs) {  // sums of values over the edges of each pair of nodes
    const int64_t nodes = graphs.graphs.graph.nodes();
    const at::Tensor place = edge_sources(graphs.graphs.graph) * nodes + graphs.graphs.graph.col;
    const at::Tensor carried =
        at::cat({graphs.edge_values, graphs.edge_categories.to(at::kFloat), at::ones({graphs.graphs.graph.edges(), 1})},
                1)
            .to(at::kDouble);
    return at::zeros({nodes * nodes, 4}, at::kDouble).index_add(0, place, carried).view({nodes, nodes, 4});
  };
  // Sums of a pair's edges in the same order: the same bits over 1,000 seeds.
  require_close(of_pairs(part), of_pairs(whole).index_select(0, rows).index_select(1, rows), 1e-12, "edges");
}

}  // namespace

TEST_CASE("items of packed graphs come back whole, in any order, also twice") {
  const FeaturedGraphs whole = featured_graphs({4, 1, 6, 3}, 5);
  const FeaturedGraphs part = items_of(whole, {2, 1, 0});
  check_batch(part.graphs);
  require_equal(part.graphs.ptr, at::tensor({0, 6, 7, 11}, at::kLong), "ptr");
  const at::Tensor rows = rows_of_items(whole.graphs.ptr, {2, 1, 0});
  require_equal(rows, at::cat({at::arange(5, 11), at::arange(4, 5), at::arange(0, 4)}), "rows");
  require_part(part, whole, rows);
  const FeaturedGraphs twice = items_of(whole, {3, 3});
  require_same_graph(graph_of_item(twice.graphs, 0), graph_of_item(whole.graphs, 3));
  require_same_graph(graph_of_item(twice.graphs, 1), graph_of_item(whole.graphs, 3));
  const FeaturedGraphs all = items_of(whole, {0, 1, 2, 3});
  require_same_graph(all.graphs.graph, whole.graphs.graph);
  require_equal(all.edge_values, whole.edge_values, "edge_values");
}

TEST_CASE("features of graphs go with their items, and stay where nodes are left out") {
  FeaturedGraphs whole = featured_graphs({4, 1, 6}, 5);
  whole.graph_features = at::arange(6.0).view({3, 2});
  require_equal(items_of(whole, {2, 0, 2}).graph_features, whole.graph_features.index_select(0, at::tensor({2, 0, 2})),
                "items");
  require_equal(induced_subgraph(whole, at::tensor({0, 2, 4, 7}, at::kLong)).graph_features, whole.graph_features,
                "subgraph");
  require_equal(renumbered(whole, generator(1)).graphs.graph_features, whole.graph_features, "renumbered");
}

TEST_CASE("items without edges or features stay without") {
  FeaturedGraphs bare;
  bare.graphs = concatenated({graph_of(2, {}), graph_of(1, {})});
  const FeaturedGraphs part = items_of(bare, {1, 0});
  CHECK(part.graphs.graph.edges() == 0);
  CHECK(part.graphs.graph.nodes() == 3);
  CHECK_FALSE(part.node_categories.defined());
  require_error([&] { items_of(bare, {2}); }, {"items", "0 … 1", "got 2"});
}

TEST_CASE("no items of packed graphs are a batch of no items with the same columns") {
  const FeaturedGraphs none = items_of(featured_graphs({4, 1}, 5), {});
  check_batch(none.graphs);
  REQUIRE(none.graphs.items() == 0);
  REQUIRE(none.node_values.sizes() == at::IntArrayRef({0, 2}));
  REQUIRE(none.edge_categories.sizes() == at::IntArrayRef({0, 1}));
  require_equal(renumbered(none, generator(1)).graphs.graphs.ptr, none.graphs.ptr, "ptr");
  require_equal(document_offsets(none.graphs.ptr, none.node_categories.select(1, 0)), none.graphs.ptr, "documents");
}

TEST_CASE("two documents of an item are items of their own") {
  const at::Tensor ptr = at::tensor({0, 3, 3, 5, 9}, at::kLong);
  const at::Tensor document = at::tensor({0, 1, 1, 0, 0, 1, 1, 1, 1}, at::kLong);
  require_equal(document_offsets(ptr, document), at::tensor({0, 1, 3, 3, 3, 5, 5, 5, 9}, at::kLong), "ptr");
  for (const auto& [row, value] : {std::pair<int64_t, int64_t>(0, 1), {4, 2}, {5, -1}, {8, 0}}) {
    at::Tensor wrong = document.clone();
    wrong[row] = value;
    if (row == 0) wrong[1] = 0;
    const bool flag = value == 0 || value == 1;
    require_error([&] { document_offsets(ptr, wrong); },
                  {"document must be 0", flag ? row == 0 ? "item 0" : "item 3" : "1"});
  }
}

TEST_CASE("an induced subgraph keeps the features of what stays") {
  const FeaturedGraphs whole = featured_graphs({5, 7}, 9);
  const at::Tensor rows = at::tensor({0, 2, 3, 6, 7, 11}, at::kLong);
  const FeaturedGraphs part = induced_subgraph(whole, rows);
  check_batch(part.graphs);
  require_equal(part.graphs.ptr, at::tensor({0, 3, 6}, at::kLong), "ptr");
  CHECK_FALSE(part.graphs.graph.edge_attr.defined());
  require_part(part, whole, rows);
}

TEST_CASE("renumbered graphs are the same graphs, each within its rows") {
  const FeaturedGraphs whole = featured_graphs({5, 1, 7}, 13);
  const RenumberedGraphs moved = renumbered(whole, generator(1));
  check_batch(moved.graphs.graphs);
  require_equal(moved.graphs.graphs.ptr, whole.graphs.ptr, "ptr");
  require_part(moved.graphs, whole, moved.order);
  CHECK_FALSE(at::equal(moved.order, at::arange(13)));
  require_equal(renumbered(whole, generator(1)).order, moved.order, "order");
}

}  // namespace geosft::test::test_featured_graphs
