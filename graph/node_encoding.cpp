// SPDX-License-Identifier: Apache-2.0
#include "graph/node_encoding.h"

#include "graph/laplacian_pe.h"
#include "graph/random_walk_pe.h"

namespace geosft {
namespace {

std::optional<at::Tensor> weight_of(const CsrGraph& graph) {
  return graph.weight.defined() ? std::optional<at::Tensor>(graph.weight) : std::nullopt;
}

}  // namespace

at::Tensor encoded_nodes(const GraphBatch& batch, NodeEncoding encoding, int64_t columns) {
  if (encoding == NodeEncoding::none) return {};
  if (encoding == NodeEncoding::random_walk) {
    return random_walk_pe(batch.graph.rowptr, batch.graph.col, columns, weight_of(batch.graph)).to(at::kFloat);
  }
  const CsrGraph graph = symmetrized(batch.graph);
  return laplacian_pe(graph.rowptr, graph.col, columns, batch.ptr, weight_of(graph)).vectors.to(at::kFloat);
}

}  // namespace geosft
