// SPDX-License-Identifier: Apache-2.0
#include "tools/view/graph_layout.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/seeds.h"
#include "geometry/threads.h"
#include "graph/laplacian_pe.h"
#include "tools/view/barnes_hut.h"

namespace geosft::view {
namespace {

constexpr int64_t max_nodes = 5000;
constexpr double opening = 1.2;  // of cells of the octree: larger is faster and less exact

// Writes the number of edges from `start` to each node into distance [N]; -1: no path.
void breadth_first(const CsrGraph& graph, int64_t start, std::vector<int32_t>& distance, std::vector<int64_t>& queue) {
  const auto* rowptr = graph.rowptr.const_data_ptr<int64_t>();
  const auto* col = graph.col.const_data_ptr<int64_t>();
  std::fill(distance.begin(), distance.end(), -1);
  queue.assign(1, start);
  distance[static_cast<size_t>(start)] = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    const int64_t node = queue[next];
    for (int64_t e = rowptr[node]; e < rowptr[node + 1]; ++e) {
      auto& found = distance[static_cast<size_t>(col[e])];
      if (found >= 0) continue;
      found = distance[static_cast<size_t>(node)] + 1;
      queue.push_back(col[e]);
    }
  }
}

// Returns the distances to the pivots, double [N, p]. Nodes without a path to a pivot are a little farther from it than
// all others.
at::Tensor pivot_distances(const CsrGraph& graph, int64_t pivots) {
  const int64_t nodes = graph.nodes(), count = std::min(pivots, nodes);
  at::Tensor all = at::empty({count, nodes}, at::kDouble);
  double* row = all.mutable_data_ptr<double>();
  std::vector<int32_t> distance(static_cast<size_t>(nodes));
  std::vector<int64_t> queue;
  std::vector<double> nearest(static_cast<size_t>(nodes), std::numeric_limits<double>::infinity());
  int64_t pivot = 0;
  for (int64_t i = 0; i < count; ++i, row += nodes) {
    breadth_first(graph, pivot, distance, queue);
    const double beyond = 1.2 * (distance[static_cast<size_t>(queue.back())] + 1);
    for (int64_t node = 0; node < nodes; ++node) {
      const auto at = static_cast<size_t>(node);
      row[node] = distance[at] < 0 ? beyond : distance[at];
      nearest[at] = std::min(nearest[at], distance[at] < 0 ? std::numeric_limits<double>::max() : row[node]);
    }
    pivot = std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
  }
  return all.t();
}

// Scales places to a mean edge length of 1.
at::Tensor with_unit_edges(const at::Tensor& places, const CsrGraph& graph) {
  if (graph.edges() == 0) return places;
  const at::Tensor along = places.index_select(0, edge_sources(graph)) - places.index_select(0, graph.col);
  const double length = along.norm(2, 1).mean().item<double>();
  return length > 0 ? places / length : places;
}

// One round: every node moves along the force on it, by at most `step`.
void move_by_forces(const CsrGraph& graph, double step, std::vector<Place>& places, std::vector<Place>& moved) {
  const auto* rowptr = graph.rowptr.const_data_ptr<int64_t>();
  const auto* col = graph.col.const_data_ptr<int64_t>();
  const RepulsionTree tree(places, opening);
  const std::vector<int64_t>& order = tree.order();
  at::parallel_for(0, graph.nodes(), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto node = static_cast<size_t>(order[static_cast<size_t>(i)]);
      const Place& here = places[node];
      Place force = tree.force_on(here, 1e-4);
      for (int64_t e = rowptr[node]; e < rowptr[node + 1]; ++e) {
        const Place& there = places[static_cast<size_t>(col[e])];
        const double length = std::hypot(there[0] - here[0], there[1] - here[1], there[2] - here[2]);
        for (size_t c = 0; c < 3; ++c) force[c] += length * (there[c] - here[c]);
      }
      const double size = std::hypot(force[0], force[1], force[2]), share = std::min(1.0, step / std::max(size, 1e-30));
      for (size_t c = 0; c < 3; ++c) moved[node][c] = here[c] + share * force[c];
    }
  });
  places.swap(moved);
}

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

at::Tensor pivot_layout(const CsrGraph& graph, int64_t pivots) {
  check_graph(graph);
  TORCH_CHECK(pivots >= 3, "pivots: expected 3 or more, got ", pivots);
  const int64_t nodes = graph.nodes();
  if (nodes < 2) return at::zeros({nodes, 3}, at::kDouble);
  const CsrGraph both = symmetrized(graph);
  const IntraOpThreads one(1);  // sums of other threads would round otherwise, and forces enlarge the difference
  const at::Tensor squared = pivot_distances(both, pivots).square();
  const at::Tensor centred =
      -0.5 * (squared - squared.mean(0, true) - squared.mean(1, true) + squared.mean());  // [N, p]
  const auto [value, vector] = at::linalg_eigh(centred.t().matmul(centred));
  at::Tensor axes = vector.flip({1}).narrow(1, 0, std::min<int64_t>(3, vector.size(1)));
  // Axes are determined but for their direction: their largest entry is positive.
  const at::Tensor largest = axes.gather(0, axes.abs().argmax(0, true));
  axes = axes * at::where(largest < 0, -1.0, 1.0);
  at::Tensor places = at::zeros({nodes, 3}, at::kDouble);
  places.narrow(1, 0, axes.size(1)).copy_(centred.matmul(axes));
  return with_unit_edges(places - places.mean(0), both);
}

at::Tensor large_layout(const CsrGraph& graph, uint64_t seed, int64_t rounds) {
  const int64_t nodes = graph.nodes();
  // Nodes at the same distances from all pivots begin a little apart.
  at::Tensor start =
      pivot_layout(graph) + 0.3 * at::randn({nodes, 3}, make_generator(seed), at::TensorOptions().dtype(at::kDouble));
  if (nodes < 2) return start;
  start = start.contiguous();
  const CsrGraph both = symmetrized(graph);
  const auto* first = reinterpret_cast<const Place*>(start.const_data_ptr<double>());
  std::vector<Place> places(first, first + nodes), moved(places.size());
  const double largest = 0.5 * std::cbrt(static_cast<double>(nodes));
  for (int64_t round = 0; round < rounds; ++round) {
    const double left = 1.0 - static_cast<double>(round) / static_cast<double>(rounds);
    move_by_forces(both, std::max(largest * left * left, 0.02), places, moved);
  }
  const at::Tensor found = at::from_blob(places.data(), {nodes, 3}, at::kDouble).clone();
  const IntraOpThreads one(1);
  return found - found.mean(0);
}

}  // namespace geosft::view
