// SPDX-License-Identifier: Apache-2.0
// One layer: attention and feed-forward, each with its residual (SFT section 4.3).
#pragma once

#include <torch/nn/modules/normalization.h>

#include "models/layers/attention.h"
#include "models/layers/polynomial_self_attention.h"

namespace geosft {

enum class NormPlacement { pre, post };

enum class AttentionKind {
  sampling,    // over a learned sample of the tokens
  polynomial,  // over all tokens; relative encodings are not looked at
  softmax,     // the same exactly, n x n
};

// The kind of that name, "sampling", "polynomial" or "softmax"; an error naming all for another name.
AttentionKind attention_kind(const std::string& name);

struct LayerOptions {
  AttentionKind kind = AttentionKind::sampling;
  AttentionOptions attention = {};    // for kinds other than `sampling`: width and heads alone
  PolynomialOptions polynomial = {};  // for those kinds; its `exact` follows from the kind
  NormPlacement norm = NormPlacement::post;
  int64_t expansion = 4;              // feed-forward: width -> expansion * width -> width, GELU between
  double token_dropout = 0.0;         // of the embeddings, after attention and after feed-forward
  double feed_forward_dropout = 0.0;  // after the expansion
};

//     post:  x <- norm1(x + attention(x));  x <- norm2(x + ff(x))
//     pre:   x <- x + attention(norm1(x));  x <- x + ff(norm2(x))
class TransformerLayerImpl : public torch::nn::Module {
 public:
  explicit TransformerLayerImpl(const LayerOptions& options);

  // x [N, width] packed by ptr: [N, width].
  at::Tensor forward(at::Tensor x, const Relative& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context);

  LayerOptions options;
  SamplingAttention attention{nullptr};  // of the layer's kind one of these, the other is empty
  PolynomialSelfAttention polynomial{nullptr};
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear expand{nullptr}, contract{nullptr};

 private:
  at::Tensor mix(const at::Tensor& x, const Relative& relative, const std::optional<at::Tensor>& ptr,
                 SamplingContext& context);
  at::Tensor feed_forward(const at::Tensor& x, SamplingContext& context);
};
TORCH_MODULE(TransformerLayer);

}  // namespace geosft
