// SPDX-License-Identifier: Apache-2.0
// Attention of all tokens over a learned sample of them (SFT section 4.3).
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <optional>

#include "models/layers/relative_encoding.h"
#include "models/layers/sampler.h"
#include "models/layers/sampling_context.h"

namespace geosft {

enum class ScoreKind { maxout, dot };
enum class ProbabilityKind { leaky_relu, softmax };
// How the weights of sampling attention start, see SamplingAttentionImpl.
enum class Initialization {
  paper,        // every linear map as torch.nn.Linear
  standardized  // with gains, and relative encodings of standardised channels
};

struct AttentionOptions {
  int64_t width = 64;  // d
  int64_t heads = 4;   // h, divides d
  RelativeEncodingKind relative = RelativeEncodingKind::none;
  // r: for points 1, or with normals 2, 4 or 5 (point_attention); channels of edges (and distances and angles) for
  // graphs, sinusoid width for sequences
  int64_t relative_channels = 0;
  SamplerOptions sampler = {};
  ScoreKind score = ScoreKind::maxout;
  ProbabilityKind probability = ProbabilityKind::leaky_relu;
  double score_dropout = 0.0;  // on queries and keys
  double eps = 1e-6;           // of the leaky relu normalisation
  Initialization initialization = Initialization::standardized;
};

// concat_h(P_h V_h) W_O + b_O with Q from all tokens and K, V, C from the sampled ones; no residual, no norm.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
//
// The paper states no initialisation. With Initialization::paper all linear maps, those of the relative encoding too,
// start as torch.nn.Linear does: uniform in +-1/sqrt(fan_in). What follows is about the default.
//
// The initialisation separates the tokens of a cloud that start out equal. For equal tokens the maxout score is one
// positive constant per head and key, so only R_mul and R_add distinguish two queries. The initial weights therefore
// standardise X_R (with its typical mean and spread per channel), and b_add starts below zero by about the size of the
// score: S changes sign over the pairs of a cloud, and the row sums of P spread over (0, 1) instead of saturating. W_V
// and W_O have a gain above 1, because averaging over the sample shrinks the values. In a graph almost all pairs have
// no edge, and share one R_mul and R_add per head: b_add starts closer to zero there, so that two pairs in five have a
// positive score. (With the value for points, three in a hundred would, and six heads of seven would have no gradient.)
// Sequences begin as graphs do: half of the pairs have a positive score. (With the value for points it was one pair in
// twelve, and nearly half of the heads began without any, so without a gradient.)
class SamplingAttentionImpl : public torch::nn::Module {
 public:
  explicit SamplingAttentionImpl(const AttentionOptions& options);
  void reset_parameters();

  // x [N, width] packed by ptr (int64 [B + 1], or none): [N, width]. Errors name what does not fit.
  at::Tensor forward(const at::Tensor& x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context);

  AttentionOptions options;
  Sampler sampler{nullptr};
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, leak{nullptr}, output{nullptr};
  at::Tensor w_mul, b_mul, w_add, b_add;  // [r, h] and [h]; undefined without a relative encoding

 private:
  // q [N, h, c] of all tokens; k, v [K, h, c] and leak [K, h] (before the softplus) of the sampled ones.
  struct Projections {
    at::Tensor q, k, v, leak;
    std::optional<at::Tensor> q_ptr, k_ptr;
  };
  void reset_relative();
  Projections project(const at::Tensor& x, const Pairs& pairs, const std::optional<at::Tensor>& ptr,
                      SamplingContext& context);
  // Returns P_h V_h [N, h, c], computed by the operator for the kind of relative encoding.
  at::Tensor mix(const Projections& p, const RelativeEncoding& relative, const Pairs& pairs) const;
  at::Tensor mix_points(const Projections& p, const RelativeEncoding& relative, const Pairs& pairs) const;
  at::Tensor mix_graph(const Projections& p, const RelativeEncoding& relative, const Pairs& pairs) const;
};
TORCH_MODULE(SamplingAttention);

}  // namespace geosft
