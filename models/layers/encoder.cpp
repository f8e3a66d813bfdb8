// SPDX-License-Identifier: Apache-2.0
#include "models/layers/encoder.h"

#include "models/layers/forward_trace.h"

namespace geosft {

EncoderImpl::EncoderImpl(const LayerOptions& layer, int64_t count)
    : layers(register_module("layers", torch::nn::ModuleList())) {
  TORCH_CHECK(count >= 1, "layers must be at least 1, got ", count);
  for (int64_t i = 0; i < count; ++i) layers->push_back(TransformerLayer(layer));
  if (layer.norm == NormPlacement::pre) {
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({layer.attention.width})));
  }
}

at::Tensor EncoderImpl::forward(at::Tensor x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                                SamplingContext& context) {
  const auto note = [&] {
    if (context.trace() != nullptr) context.trace()->tokens.push_back(x);
  };
  note();
  for (const auto& layer : *layers) {
    x = layer->as<TransformerLayer>()->forward(x, relative, ptr, context);
    note();
  }
  return norm.is_empty() ? x : norm->forward(x);
}

}  // namespace geosft
