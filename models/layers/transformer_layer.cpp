// SPDX-License-Identifier: Apache-2.0
#include "models/layers/transformer_layer.h"

namespace geosft {

AttentionKind attention_kind(const std::string& name) {
  if (name == "sampling") return AttentionKind::sampling;
  if (name == "polynomial") return AttentionKind::polynomial;
  if (name == "softmax") return AttentionKind::softmax;
  TORCH_CHECK(false, "name of an attention must be sampling, polynomial or softmax, not ", name);
}

TransformerLayerImpl::TransformerLayerImpl(const LayerOptions& layer_options) : options(layer_options) {
  const int64_t width = options.attention.width, inner = options.expansion * width;
  if (options.kind == AttentionKind::sampling) {
    attention = register_module("attention", SamplingAttention(options.attention));
  } else {
    options.polynomial.exact = options.kind == AttentionKind::softmax;
    polynomial =
        register_module("attention", PolynomialSelfAttention(width, options.attention.heads, options.polynomial));
  }
  norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  expand = register_module("expand", torch::nn::Linear(width, inner));
  contract = register_module("contract", torch::nn::Linear(inner, width));
}

at::Tensor TransformerLayerImpl::mix(const at::Tensor& x, const Relative& relative,
                                     const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  if (options.kind == AttentionKind::sampling) return attention->forward(x, relative, ptr, context);
  return polynomial->forward(x, ptr);
}

at::Tensor TransformerLayerImpl::feed_forward(const at::Tensor& x, SamplingContext& context) {
  const at::Tensor hidden = context.dropout(at::gelu(expand->forward(x)), options.feed_forward_dropout);
  return context.dropout(contract->forward(hidden), options.token_dropout);
}

at::Tensor TransformerLayerImpl::forward(at::Tensor x, const Relative& relative, const std::optional<at::Tensor>& ptr,
                                         SamplingContext& context) {
  const bool pre = options.norm == NormPlacement::pre;
  const at::Tensor mixed = mix(pre ? norm1->forward(x) : x, relative, ptr, context);
  x = x + context.dropout(mixed, options.token_dropout);
  if (!pre) x = norm1->forward(x);
  x = x + feed_forward(pre ? norm2->forward(x) : x, context);
  return pre ? x : norm2->forward(x);
}

}  // namespace geosft
