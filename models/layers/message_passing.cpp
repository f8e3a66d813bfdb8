// SPDX-License-Identifier: Apache-2.0
#include "models/layers/message_passing.h"

#include "models/ops/edge_sum.h"
#include "models/ops/gated_edge_sum.h"

namespace geosft {
namespace {

// Applies a linear map; the operators need a single type, that of the tokens, which autocast does not change.
at::Tensor mapped(torch::nn::Linear& linear, const at::Tensor& x, const at::Tensor& like) {
  return linear->forward(x).to(like.scalar_type());
}

}  // namespace

LocalGraph local_graph(const at::Tensor& rowptr, const at::Tensor& col, LocalKind kind,
                       const at::TensorOptions& numbers) {
  LocalGraph graph;
  graph.index = edge_index(rowptr, col, rowptr.size(0) - 1);
  if (kind != LocalKind::gcn) return graph;
  const at::Tensor degree = (at::diff(graph.index.rowptr) + 1).to(numbers), root = degree.rsqrt();
  graph.edge_weight = root.index_select(0, graph.index.row) * root.index_select(0, graph.index.col);
  graph.self_weight = degree.reciprocal().unsqueeze(1);
  return graph;
}

MessagePassingImpl::MessagePassingImpl(int64_t width, const LocalOptions& local_options, NormKind norm)
    : options(local_options) {
  TORCH_CHECK(options.kind != LocalKind::none, "kind must be gcn, gine or gated_gcn");
  TORCH_CHECK(options.kind != LocalKind::gated_gcn || options.edge_channels >= 1,
              "edge_channels must be at least 1 for gated_gcn, got ", options.edge_channels);
  const auto linear = [&](const char* name, int64_t inputs, bool with_bias = true) {
    return register_module(name, torch::nn::Linear(torch::nn::LinearOptions(inputs, width).bias(with_bias)));
  };
  const bool gated = options.kind == LocalKind::gated_gcn;
  node = linear("node", width, options.kind != LocalKind::gcn);
  if (gated) {
    query = linear("query", width);
    key = linear("key", width);
    value = linear("value", width);
  }
  if (options.edge_channels > 0) edge = linear("edge", gated ? width : options.edge_channels);
  if (options.kind == LocalKind::gine) {
    output = linear("output", width);
    eps = register_parameter("eps", at::zeros({1}));
  }
  if (options.kind == LocalKind::gcn) {
    bias = register_parameter("bias", at::zeros({width}));
    if (options.edge_channels > 0) root = register_parameter("root", at::randn({width}));
  }
  if (gated && options.updates_edges) edge_norm_ = Normalization(*this, "edge_norm", norm, width);
}

at::Tensor MessagePassingImpl::gcn(const at::Tensor& x, const LocalGraph& graph) {
  const at::Tensor rows = mapped(node, x, x);
  if (options.edge_channels == 0) {
    return at::addcmul(edge_sum(rows, graph.index, std::nullopt, graph.edge_weight), rows, graph.self_weight)
        .add_(bias);
  }
  const at::Tensor sums =
      edge_sum(rows, graph.index, mapped(edge, graph.edge_attr, x), graph.edge_weight, /*relu=*/true);
  return at::addcmul(sums, at::relu(rows + root), graph.self_weight).add_(bias);
}

at::Tensor MessagePassingImpl::gine(const at::Tensor& x, const LocalGraph& graph) {
  const auto weight = graph.edge_weight.defined() ? std::optional(graph.edge_weight) : std::nullopt;
  const at::Tensor sums = options.edge_channels == 0
                              ? edge_sum(x, graph.index, std::nullopt, weight)
                              : edge_sum(x, graph.index, mapped(edge, graph.edge_attr, x), weight, /*relu=*/true);
  return mapped(output, at::gelu(node->forward(x * (1 + eps) + sums)), x);
}

at::Tensor MessagePassingImpl::gated_gcn(const at::Tensor& x, LocalGraph& graph, SamplingContext& context) {
  const auto [mean, gate] = gated_edge_sum(mapped(query, x, x), mapped(key, x, x), mapped(value, x, x),
                                           mapped(edge, graph.edges, x), graph.index);
  if (options.updates_edges) graph.edges = graph.edges + at::gelu(edge_norm_(gate, context));
  return mapped(node, x, x) + mean;
}

at::Tensor MessagePassingImpl::forward(const at::Tensor& x, LocalGraph& graph, SamplingContext& context) {
  TORCH_CHECK(x.dim() == 2 && x.size(0) == graph.index.rows(), "x must have a row for each of the ", graph.index.rows(),
              " nodes of the graph, got ", x.sizes());
  const at::Tensor& edges = options.kind == LocalKind::gated_gcn ? graph.edges : graph.edge_attr;
  TORCH_CHECK(options.edge_channels == 0 || (edges.defined() && edges.size(0) == graph.index.edges()),
              "edge_attr must have a row for each of the ", graph.index.edges(), " edges");
  if (options.kind == LocalKind::gcn) return gcn(x, graph);
  return options.kind == LocalKind::gine ? gine(x, graph) : gated_gcn(x, graph, context);
}

VirtualNodeImpl::VirtualNodeImpl(int64_t width, NormKind norm)
    : embedding(register_parameter("embedding", at::zeros({width}))),
      linear(register_module("linear", torch::nn::Linear(width, width))),
      norm_(*this, "norm", norm, width) {}

at::Tensor VirtualNodeImpl::start(int64_t items) const {
  return embedding.expand({items, embedding.size(0)});
}

at::Tensor VirtualNodeImpl::read(const at::Tensor& x, const at::Tensor& state, const EdgeIndex& of_items) const {
  return x + edge_sum(state, edges_to_items(of_items));
}

at::Tensor VirtualNodeImpl::write(const at::Tensor& x, const at::Tensor& state, const EdgeIndex& of_items,
                                  SamplingContext& context) {
  return state + at::gelu(norm_(mapped(linear, state + edge_sum(x, of_items), x), context));
}

}  // namespace geosft
