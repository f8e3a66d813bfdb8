// SPDX-License-Identifier: Apache-2.0
#include "graph/node_encoding.h"

#include "geometry/operators.h"
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

NodeEncoding encoding_named(c10::string_view name) {
  if (name == "rwpe") return NodeEncoding::random_walk;
  TORCH_CHECK(name == "lappe", "encoding must be rwpe or lappe, not ", name);
  return NodeEncoding::laplacian;
}

at::Tensor encoded_nodes_of(const at::Tensor& ptr, const at::Tensor& rowptr, const at::Tensor& col,
                            const std::optional<at::Tensor>& weight, c10::string_view encoding, int64_t columns,
                            int64_t walks, int64_t seed) {
  const GraphBatch batch{{rowptr, col, {}, weight.value_or(at::Tensor())}, ptr};
  check_batch(batch);
  TORCH_CHECK(columns >= 1, "columns must be at least 1, got ", columns);
  return encoded_nodes(batch, {encoding_named(encoding), columns, walks, static_cast<uint64_t>(seed)}).values;
}

// The encodings of trained models, for Python.
GEOSFT_OPERATORS(m) {
  m.def(
      "_encoded_nodes(Tensor ptr, Tensor rowptr, Tensor col, Tensor? weight, str encoding, int columns, int walks=0, "
      "int seed=0) -> Tensor");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_encoded_nodes", encoded_nodes_of);
}

}  // namespace

EncodedNodes encoded_nodes(const GraphBatch& batch, const NodeEncodingOptions& options) {
  if (options.encoding == NodeEncoding::none) return {};
  if (options.encoding == NodeEncoding::random_walk) return walks_of(batch.graph, options);
  return {undirected_laplacian_pe(batch, options.columns).vectors.to(at::kFloat), {}};
}

}  // namespace geosft
