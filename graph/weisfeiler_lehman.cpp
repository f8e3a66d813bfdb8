// SPDX-License-Identifier: Apache-2.0
#include "graph/weisfeiler_lehman.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>

#include "geometry/splitmix64.h"

namespace geosft {
namespace {

constexpr int64_t grain = 4096;  // nodes of a task
constexpr uint64_t of_rows = 0x9e3779b97f4a7c15, of_nodes = 0xc2b2ae3d27d4eb4f;

uint64_t mixed(uint64_t a, uint64_t b) {
  return splitmix64_finalizer(splitmix64_finalizer(a + of_nodes) ^ b);
}

// Returns a hash of each row of categories [rows, columns]; all have the same one where there are none.
at::Tensor row_hashes(const at::Tensor& categories, int64_t rows, const char* name) {
  at::Tensor out = at::empty({rows}, at::kLong);
  auto* const to = reinterpret_cast<uint64_t*>(out.data_ptr<int64_t>());
  if (!categories.defined()) {
    std::fill(to, to + rows, splitmix64_finalizer(of_rows));
    return out;
  }
  TORCH_CHECK(categories.dim() == 2 && categories.size(0) == rows && categories.device().is_cpu() &&
                  (categories.scalar_type() == at::kLong || categories.scalar_type() == at::kByte),
              name, " must be int64 or uint8 [", rows, ", columns] on the CPU, got ", categories.scalar_type(), " ",
              categories.sizes(), " on ", categories.device());
  const at::Tensor wide = categories.to(at::kLong).contiguous();
  const int64_t* const from = wide.const_data_ptr<int64_t>();
  const int64_t columns = wide.size(1);
  at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      uint64_t hash = splitmix64_finalizer(of_rows);
      for (int64_t c = 0; c < columns; ++c) hash = mixed(hash, static_cast<uint64_t>(from[row * columns + c]));
      to[row] = hash;
    }
  });
  return out;
}

}  // namespace

at::Tensor weisfeiler_lehman_labels(const FeaturedGraphs& graphs, int64_t iterations) {
  TORCH_CHECK(iterations >= 0, "iterations must be at least 0, got ", iterations);
  const CsrGraph& graph = graphs.graphs.graph;
  TORCH_CHECK(graph.rowptr.device().is_cpu(), "rowptr must be on the CPU, got ", graph.rowptr.device());
  check_graph(graph);
  const int64_t nodes = graph.nodes();
  const at::Tensor rowptr = graph.rowptr.contiguous(), col = graph.col.contiguous();
  const at::Tensor edges = row_hashes(graphs.edge_categories, graph.edges(), "edge_categories");
  at::Tensor labels = at::empty({iterations + 1, nodes}, at::kLong);
  labels[0].copy_(row_hashes(graphs.node_categories, nodes, "node_categories"));
  const int64_t *const first = rowptr.const_data_ptr<int64_t>(), *const target = col.const_data_ptr<int64_t>();
  const auto* const edge = reinterpret_cast<const uint64_t*>(edges.const_data_ptr<int64_t>());
  auto* const all = reinterpret_cast<uint64_t*>(labels.data_ptr<int64_t>());
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    const uint64_t* const from = all + iteration * nodes;
    uint64_t* const to = all + (iteration + 1) * nodes;
    at::parallel_for(0, nodes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t node = begin; node < end; ++node) {
        uint64_t around = 0;  // a sum of hashes, which does not depend on the order of the edges
        for (int64_t e = first[node]; e < first[node + 1]; ++e) around += mixed(edge[e], from[target[e]]);
        to[node] = mixed(from[node], around);
      }
    });
  }
  return labels.bitwise_and_(std::numeric_limits<int64_t>::max());
}

}  // namespace geosft
