// SPDX-License-Identifier: Apache-2.0
#include "graph/node_encoding.h"

#include "graph/laplacian_pe.h"
#include "graph/random_walk_pe.h"
#include "graph/random_walk_pe_estimate.h"

namespace geosft {
namespace {

std::optional<at::Tensor> weight_of(const CsrGraph& graph) {
  return graph.weight.defined() ? std::optional<at::Tensor>(graph.weight) : std::nullopt;
}

EncodedNodes walks_of(const CsrGraph& graph, const NodeEncodingOptions& options) {
  if (options.walks == 0) {
    return {random_walk_pe(graph.rowptr, graph.col, options.columns, weight_of(graph)).to(at::kFloat), {}};
  }
  const RandomWalkEstimate found =
      random_walk_pe_estimate(graph.rowptr, graph.col, options.columns, options.walks, options.seed, weight_of(graph));
  return {found.mean.to(at::kFloat), found.standard_error.to(at::kFloat)};
}

}  // namespace

EncodedNodes encoded_nodes(const GraphBatch& batch, const NodeEncodingOptions& options) {
  if (options.encoding == NodeEncoding::none) return {};
  if (options.encoding == NodeEncoding::random_walk) return walks_of(batch.graph, options);
  return {undirected_laplacian_pe(batch, options.columns).vectors.to(at::kFloat), {}};
}

}  // namespace geosft
