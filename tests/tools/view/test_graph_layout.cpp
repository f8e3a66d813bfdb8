// SPDX-License-Identifier: Apache-2.0
#include "tools/view/graph_layout.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_graph_layout {
using namespace view;
namespace {

CsrGraph path(int64_t nodes) {
  const at::Tensor from = at::arange(nodes - 1, at::kLong);
  return symmetrized(graph_from_edges(from, from + 1, nodes));
}

// Mean distance over edges, and over all pairs.
std::pair<double, double> distances(const at::Tensor& places, const CsrGraph& graph) {
  const at::Tensor along = places.index_select(0, edge_sources(graph)) - places.index_select(0, graph.col);
  return {along.norm(2, 1).mean().item<double>(), at::pdist(places).mean().item<double>()};
}

}  // namespace

TEST_CASE("neighbours are closer than others in both layouts") {
  const CsrGraph graph = path(20);
  for (const at::Tensor& places : {force_directed_layout(graph, 1), spectral_layout(graph)}) {
    REQUIRE(places.sizes() == at::IntArrayRef({20, 3}));
    const auto [edges, all] = distances(places, graph);
    CHECK(edges < 0.5 * all);
  }
}

TEST_CASE("a force-directed layout is determined by its seed and separates nodes") {
  const CsrGraph graph = path(12);
  const at::Tensor places = force_directed_layout(graph, 3);
  require_equal(force_directed_layout(graph, 3), places, "again");
  CHECK_FALSE(at::equal(force_directed_layout(graph, 4), places));
  CHECK(at::pdist(places).min().item<double>() > 0.1 * at::pdist(places).mean().item<double>());
}

TEST_CASE("a pivot layout lays a path along a line, with edges of length 1") {
  const at::Tensor places = pivot_layout(path(40));
  require_equal(pivot_layout(path(40)), places, "again");
  const at::Tensor along = places.select(1, 0);
  const at::Tensor steps = along.slice(0, 1) - along.slice(0, 0, -1);
  CHECK((steps.abs() - 1).abs().max().item<double>() < 1e-6);
  CHECK((steps.sign() == steps[0].sign()).all().item<bool>());
  CHECK(places.narrow(1, 1, 2).abs().max().item<double>() < 1e-5);
}

TEST_CASE("a large layout is equal on every call and with any threads, and neighbours are near") {
  // A sheet of 60 x 60 nodes.
  const at::Tensor node = at::arange(3600, at::kLong).view({60, 60});
  const at::Tensor from = at::cat({node.slice(1, 0, -1).flatten(), node.slice(0, 0, -1).flatten()});
  const at::Tensor to = at::cat({node.slice(1, 1).flatten(), node.slice(0, 1).flatten()});
  const CsrGraph sheet = symmetrized(graph_from_edges(from, to, 3600));
  const at::Tensor places = large_layout(sheet, 3);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads == 1 ? 2 : 1);
  require_equal(large_layout(sheet, 3), places, "with other threads");
  at::set_num_threads(threads);
  const auto [edges, all] = distances(places, sheet);
  CHECK(edges < 0.15 * all);
  const at::Tensor row = places.view({60, 60, 3});
  // Corners that are opposite are farther apart than those of a side.
  const auto apart = [&](int64_t r, int64_t c) { return (row[0][0] - row[r][c]).norm().item<double>(); };
  CHECK(apart(59, 59) > 1.1 * apart(0, 59));
  CHECK(at::pdist(places).min().item<double>() > 0.05 * edges);
}

TEST_CASE("large layouts of graphs in pieces, without edges, and of few nodes are finite") {
  const at::Tensor from = at::tensor({0, 1, 4}, at::kLong), to = at::tensor({1, 2, 5}, at::kLong);
  for (const CsrGraph& graph :
       {symmetrized(graph_from_edges(from, to, 7)), graph_from_edges(from.slice(0, 0, 0), from.slice(0, 0, 0), 5),
        graph_from_edges(from.slice(0, 0, 0), from.slice(0, 0, 0), 1)}) {
    const at::Tensor places = large_layout(graph, 0);
    REQUIRE(places.sizes() == at::IntArrayRef({graph.nodes(), 3}));
    CHECK(places.isfinite().all().item<bool>());
    CHECK((graph.nodes() < 2 || at::pdist(places).min().item<double>() > 0));
  }
}

TEST_CASE("graphs without edges, of one node, and too large ones") {
  CHECK(force_directed_layout(graph_from_edges(at::empty({0}, at::kLong), at::empty({0}, at::kLong), 1), 0).size(0) ==
        1);
  const CsrGraph alone = graph_from_edges(at::empty({0}, at::kLong), at::empty({0}, at::kLong), 4);
  CHECK(force_directed_layout(alone, 0).isfinite().all().item<bool>());
  CHECK(spectral_layout(alone).abs().max().item<double>() == 0);
  const CsrGraph large = graph_from_edges(at::empty({0}, at::kLong), at::empty({0}, at::kLong), 6000);
  require_error([&] { force_directed_layout(large, 0); }, {"5000", "6000", "spectral"});
}

}  // namespace geosft::test::test_graph_layout
