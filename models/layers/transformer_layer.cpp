// SPDX-License-Identifier: Apache-2.0
#include "models/layers/transformer_layer.h"

namespace geosft {

TransformerLayerImpl::TransformerLayerImpl(const LayerOptions& layer_options)
    : options(layer_options),
      attention(register_module("attention", SamplingAttention(options.attention))),
      norm1(register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.attention.width})))),
      norm2(register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.attention.width})))),
      expand(register_module("expand",
                             torch::nn::Linear(options.attention.width, options.expansion * options.attention.width))),
      contract(register_module(
          "contract", torch::nn::Linear(options.expansion * options.attention.width, options.attention.width))) {}

at::Tensor TransformerLayerImpl::feed_forward(const at::Tensor& x, SamplingContext& context) {
  const at::Tensor hidden = context.dropout(at::gelu(expand->forward(x)), options.feed_forward_dropout);
  return context.dropout(contract->forward(hidden), options.token_dropout);
}

at::Tensor TransformerLayerImpl::forward(at::Tensor x, const Relative& relative, const std::optional<at::Tensor>& ptr,
                                         SamplingContext& context) {
  const bool pre = options.norm == NormPlacement::pre;
  const at::Tensor mixed = attention->forward(pre ? norm1->forward(x) : x, relative, ptr, context);
  x = x + context.dropout(mixed, options.token_dropout);
  if (!pre) x = norm1->forward(x);
  x = x + feed_forward(pre ? norm2->forward(x) : x, context);
  return pre ? x : norm2->forward(x);
}

}  // namespace geosft
