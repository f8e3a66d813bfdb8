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
