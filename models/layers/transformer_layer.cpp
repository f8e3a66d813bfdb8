// SPDX-License-Identifier: Apache-2.0
#include "models/layers/transformer_layer.h"

#include <algorithm>

namespace geosft {

std::vector<std::string> attention_names() {
  std::vector<std::string> names = {"sampling", "polynomial"};
  names.insert(names.end(), primal_names().begin(), primal_names().end());
  return names;
}

void choose_attention(LayerOptions& options, const std::string& name) {
  if (name == "sampling") {
    options.kind = AttentionKind::sampling;
  } else if (name == "polynomial") {
    options.kind = AttentionKind::polynomial;
  } else {
    std::string known;
    for (const std::string& one : attention_names()) known += (known.empty() ? "" : ", ") + one;
    const auto& primal = primal_names();
    TORCH_CHECK(std::find(primal.begin(), primal.end(), name) != primal.end(), "name of an attention must be one of ",
                known, ", not ", name);
    options.kind = AttentionKind::primal;
    options.primal = primal_options(name, options.attention.heads);
  }
}

TransformerLayerImpl::TransformerLayerImpl(const LayerOptions& layer_options) : options(layer_options) {
  const int64_t width = options.attention.width, inner = options.expansion * width;
  if (options.kind == AttentionKind::sampling) {
    attention = register_module("attention", SamplingAttention(options.attention));
  } else if (options.kind == AttentionKind::polynomial) {
    polynomial =
        register_module("attention", PolynomialSelfAttention(width, options.attention.heads, options.polynomial));
  } else {
    primal = register_module("attention", PrimalSelfAttention(width, options.attention.heads, options.primal));
  }
  norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  expand = register_module("expand", torch::nn::Linear(width, inner));
  contract = register_module("contract", torch::nn::Linear(inner, width));
}

at::Tensor TransformerLayerImpl::mix(const at::Tensor& x, const RelativeEncoding& relative,
                                     const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  if (options.kind == AttentionKind::sampling) return attention->forward(x, relative, ptr, context);
  const bool of_polynomial = options.kind == AttentionKind::polynomial;
  if (context.trace() != nullptr) {
    context.trace()->layers.push_back(of_polynomial ? polynomial->trace(x, ptr) : primal->trace(x, ptr, relative));
  }
  return of_polynomial ? polynomial->forward(x, ptr) : primal->forward(x, ptr, relative);
}

at::Tensor TransformerLayerImpl::feed_forward(const at::Tensor& x, SamplingContext& context) {
  const at::Tensor hidden = context.dropout(at::gelu(expand->forward(x)), options.feed_forward_dropout);
  return context.dropout(contract->forward(hidden), options.token_dropout);
}

at::Tensor TransformerLayerImpl::forward(at::Tensor x, const RelativeEncoding& relative,
                                         const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  const bool pre = options.norm == NormPlacement::pre;
  const at::Tensor mixed = mix(pre ? norm1->forward(x) : x, relative, ptr, context);
  x = x + context.dropout(mixed, options.token_dropout);
  if (!pre) x = norm1->forward(x);
  x = x + feed_forward(pre ? norm2->forward(x) : x, context);
  return pre ? x : norm2->forward(x);
}

}  // namespace geosft
