// SPDX-License-Identifier: Apache-2.0
#include "models/layers/encoder.h"

#include "models/layers/forward_trace.h"

namespace geosft {

EncoderImpl::EncoderImpl(const LayerOptions& layer, int64_t count, const EncoderOptions& encoder_options)
    : options(encoder_options), layers(register_module("layers", torch::nn::ModuleList())) {
  TORCH_CHECK(count >= 1, "layers must be at least 1, got ", count);
  const int64_t width = layer.attention.width;
  for (int64_t i = 0; i < count; ++i) {
    LayerOptions one = layer;
    one.local.updates_edges = i + 1 < count;
    if (count > 1) one.drop_path *= static_cast<double>(i) / static_cast<double>(count - 1);
    layers->push_back(TransformerLayer(one));
  }
  if (options.virtual_node) virtual_node = register_module("virtual_node", VirtualNode(width, layer.normalization));
  if (options.jumping == JumpingKnowledge::concatenate) {
    jump = register_module("jump", torch::nn::Linear(count * width, width));
  }
  if (layer.norm == NormPlacement::pre) last_ = Normalization(*this, "norm", layer.normalization, width);
  norm = last_.layer;
}

at::Tensor EncoderImpl::joined(const std::vector<at::Tensor>& outputs) {
  if (options.jumping == JumpingKnowledge::concatenate) {
    return jump->forward(at::cat(outputs, 1)).to(outputs.back().scalar_type());
  }
  at::Tensor result = outputs.front();
  for (size_t i = 1; i < outputs.size(); ++i) {
    result = options.jumping == JumpingKnowledge::max ? at::maximum(result, outputs[i]) : result + outputs[i];
  }
  return result;
}

at::Tensor EncoderImpl::forward(at::Tensor x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                                SamplingContext& context, const LocalGraph* graph) {
  const auto note = [&] {
    if (context.trace() != nullptr) context.trace()->tokens.push_back(x);
  };
  note();
  LocalGraph edges;
  if (graph != nullptr) edges = *graph;
  EdgeIndex of_items;
  at::Tensor state;
  if (!virtual_node.is_empty()) {
    of_items = edges_of_items(ptr, x.size(0), x.device());
    state = virtual_node->start(of_items.rows());
  }
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < layers->size(); ++i) {
    if (state.defined()) x = virtual_node->read(x, state, of_items);
    x = layers[i]->as<TransformerLayer>()->forward(x, relative, ptr, context, graph != nullptr ? &edges : nullptr);
    note();
    if (options.jumping != JumpingKnowledge::none) outputs.push_back(x);
    if (state.defined() && i + 1 < layers->size()) state = virtual_node->write(x, state, of_items, context);
  }
  return last_(outputs.empty() ? x : joined(outputs), context);
}

}  // namespace geosft
