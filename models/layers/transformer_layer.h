// SPDX-License-Identifier: Apache-2.0
// A transformer layer: attention and feed-forward, each with a residual connection (SFT section 4.3).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/attention.h"
#include "models/layers/message_passing.h"
#include "models/layers/normalization.h"
#include "models/layers/polynomial_self_attention.h"
#include "models/layers/primal_self_attention.h"

namespace geosft {

enum class NormPlacement { pre, post };

enum class AttentionKind {
  sampling,    // over a learned sample of the tokens
  polynomial,  // over all tokens; ignores relative encodings
  primal,      // the primal-dual family, over all tokens; masks may use the relative encoding
  none,        // only for layers with a local branch
};

struct LayerOptions {
  AttentionKind kind = AttentionKind::sampling;
  AttentionOptions attention = {};    // for the other kinds: width and heads only
  PolynomialOptions polynomial = {};  // for that kind
  PrimalOptions primal = {};          // for that kind
  NormPlacement norm = NormPlacement::post;
  NormKind normalization = NormKind::layer;
  LocalOptions local = {};            // the convolution beside attention, or without it
  bool residual = true;               // of attention and of the convolution
  int64_t expansion = 4;              // feed-forward: width -> expansion * width -> width, GELU between; 0: none
  double token_dropout = 0.0;         // of the embeddings, after attention and after feed-forward
  double feed_forward_dropout = 0.0;  // after the expansion
  // Probability that training leaves out a residual branch, separately for each item and branch; what remains is
  // divided by 1 - drop_path (stochastic depth, Huang et al., 2016). An encoder raises it linearly from 0 in the first
  // layer to this value in the last one.
  double drop_path = 0.0;
};

class TransformerLayerImpl;

// The attention of a layer, as a function of its tokens x [N, width], which are packed by ptr: [N, width].
using AttentionFunction = std::function<at::Tensor(const at::Tensor& x, const RelativeEncoding& relative,
                                                   const std::optional<at::Tensor>& ptr, SamplingContext& context)>;

// An attention by its name: sampling, polynomial, the members of the primal-dual family (primal_names), and none.
struct NamedAttention {
  std::string name;
  AttentionKind kind;
  // Makes the attention of a layer, its module "attention", from the layer's options; null for none.
  AttentionFunction (*make)(TransformerLayerImpl& layer) = nullptr;
  // Sets the options that follow from the name; null: none do.
  void (*choose)(LayerOptions& options, const std::string& name) = nullptr;
};
// Returns the registry of the attentions, which configurations, help and error messages read; none comes last.
const std::vector<NamedAttention>& named_attentions();
// Returns the names of the registry, by default without "none".
std::vector<std::string> attention_names(bool or_none = false);
// Selects the attention with that name: sets `kind` and, for a member of the primal-dual family, `primal`, for which
// the number of heads must be set before. Throws an error that lists all names for an unknown one.
void choose_attention(LayerOptions& options, const std::string& name);

// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
//     post:  x <- norm1(x + attention(x));  x <- norm2(x + ff(x))
//     pre:   x <- x + attention(norm1(x));  x <- x + ff(norm2(x))
// Layers with a local branch (Rampasek et al., 2022), and those without attention, compute:
//     post:  x <- norm1(x + attention(x)) + local_norm(x + local(x));  x <- norm2(x + ff(x))
//     pre:   x <- x + attention(norm1(x)) + local(local_norm(x));      x <- x + ff(norm2(x))
//     post:  x <- x + gelu(local_norm(local(x)));  x <- norm2(x + ff(x))
//     pre:   x <- x + gelu(local(local_norm(x)));  x <- x + ff(norm2(x))
class TransformerLayerImpl : public torch::nn::Module {
 public:
  explicit TransformerLayerImpl(const LayerOptions& options);

  // x [N, width] packed by ptr: [N, width]. A local branch needs `graph`, whose edges it may update.
  at::Tensor forward(at::Tensor x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context, LocalGraph* graph = nullptr);

  LayerOptions options;
  // forward() calls closures that the constructor makes: replace_module() has no effect on it, new weights have.
  SamplingAttention attention{nullptr};  // the one of the layer's kind is set, the others are empty
  PolynomialSelfAttention polynomial{nullptr};
  PrimalSelfAttention primal{nullptr};
  MessagePassing local{nullptr};                        // empty without a local branch
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};  // empty with another normalisation, or without use
  torch::nn::Linear expand{nullptr}, contract{nullptr};

 private:
  at::Tensor convolve(const at::Tensor& x, LocalGraph* graph, SamplingContext& context);
  at::Tensor attend_and_convolve(const at::Tensor& x, const RelativeEncoding& relative,
                                 const std::optional<at::Tensor>& ptr, SamplingContext& context, LocalGraph* graph);
  at::Tensor feed_forward(const at::Tensor& x, SamplingContext& context);
  at::Tensor dropped(const at::Tensor& branch, const std::optional<at::Tensor>& ptr, SamplingContext& context) const;

  AttentionFunction attend_;  // empty without attention
  Normalization first_, second_, local_;
};
TORCH_MODULE(TransformerLayer);

}  // namespace geosft
