// SPDX-License-Identifier: Apache-2.0
#include "tools/view/graph_layout.h"

#include <algorithm>
#include <cmath>

#include "data/seeds.h"
#include "graph/laplacian_pe.h"

namespace geosft::view {
namespace {

constexpr int64_t max_nodes = 5000;

}  // namespace

at::Tensor spectral_layout(const CsrGraph& graph) {
  const CsrGraph both = symmetrized(graph);
  return laplacian_pe(both.rowptr, both.col, 3).vectors.to(at::kDouble);
}

at::Tensor force_directed_layout(const CsrGraph& graph, uint64_t seed, int64_t rounds) {
  const int64_t nodes = graph.nodes();
  TORCH_CHECK(nodes <= max_nodes, "a force-directed layout takes at most ", max_nodes, " nodes, found ", nodes,
              ": take the spectral one");
  at::Generator generator = make_generator(seed);
  at::Tensor places = at::rand({nodes, 3}, generator, at::TensorOptions().dtype(at::kDouble)) - 0.5;
  if (nodes < 2) return places;
  const at::Tensor source = edge_sources(graph);
  const double length = std::cbrt(1.0 / static_cast<double>(nodes));  // rest length of an edge
  for (int64_t round = 0; round < rounds; ++round) {
    const at::Tensor apart = places.unsqueeze(1) - places.unsqueeze(0);
    const at::Tensor squared = apart.square().sum(-1, true).clamp_min(1e-6);
    at::Tensor force = (apart * (length * length / squared)).sum(1);
    const at::Tensor along = places.index_select(0, graph.col) - places.index_select(0, source);
    const at::Tensor pull = along * (along.norm(2, -1, true) / length);
    force = force.index_add(0, source, pull).index_add(0, graph.col, -pull);
    // The step size falls linearly from a tenth of the layout's size to 0.
    const double step = 0.1 * (1.0 - static_cast<double>(round) / static_cast<double>(rounds));
    const at::Tensor size = force.norm(2, -1, true).clamp_min(1e-12);
    places = places + force / size * size.clamp_max(step);
  }
  return places - places.mean(0);
}

}  // namespace geosft::view
