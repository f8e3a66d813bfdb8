// SPDX-License-Identifier: Apache-2.0
// The sampler as a building block: importance scores, sampling in all its variants, and the sampled tokens
// (SFT section 4.2). Usable alone on any tensor: sample pairs once, then blend tokens and everything that belongs to
// them.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <optional>

#include "models/layers/sampling_context.h"
#include "models/ops/sample_pairs.h"

namespace geosft {

enum class PairWeighting {
  softplus,        // softplus(z')^(1/tau), normalised over the pair
  gumbel_softmax,  // exp(z'/tau), normalised over the pair (equations 5 and 6)
};

struct SamplerOptions {
  int64_t num_samples = 32;  // k: sampled pairs per item
  double tau = 1.0;
  PairWeighting weighting = PairWeighting::softplus;
  bool hard = false;  // forward: the member with the larger weight; backward: the weighted sum (equations 8 and 9)
  bool with_replacement = false;  // independent samples of all tokens, sampler gradient times 1/k (equations 10 and 11)
  bool noise = true;              // Gumbel noise on the scores (in random and seeded mode)
};

// Samples of a packed batch.
struct Pairs {
  at::Tensor top, partner;  // int64 [K], packed rows
  at::Tensor weight;        // [K], of `top`; differentiable in the scores
  at::Tensor ptr;           // int64 [B + 1], offsets of each item's samples
  bool hard = false;

  // Returns weight * x[top] + (1 - weight) * x[partner] for x [N, ...]: [K, ...]. With `hard`, the value is that of the
  // member with the larger weight, and the gradient is that of the sum.
  at::Tensor sample(const at::Tensor& x) const;
};

// Returns the number of samples of an item with this many tokens.
int64_t sample_count(int64_t tokens, const SamplerOptions& options);

// Returns the weights of pairs `sampled` by scores [N] (float32 or float64) as `options` say: [K], of the type of the
// scores and differentiable in them. Errors (c10::Error) name the argument; whether the pairs were sampled by these
// scores is not checked.
Pairs weigh(const at::Tensor& score, const SampledPairs& sampled, const SamplerOptions& options);

// Samples tokens by their scores [N], a packed batch (ptr int64 [B + 1], or none for one item). Scores are float32 or
// float64, or float16 or bfloat16, which are processed in float32; weights have the type of the scores. Modes `random`
// and `seeded` follow `options`; `greedy` takes ranks 1 … k and k + 1 … 2k. Errors (c10::Error) name the argument;
// scores on the CPU that are not finite throw a NonFiniteError (models/ops/non_finite_error.h).
Pairs sample_tokens(const at::Tensor& score, const std::optional<at::Tensor>& ptr, const SamplerOptions& options,
                    SamplingContext& context);

// Samples tokens by the scores z = x W_S + b_S.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class SamplerImpl : public torch::nn::Module {
 public:
  SamplerImpl(int64_t width, SamplerOptions options);

  // x [N, width]: scores [N].
  at::Tensor score(const at::Tensor& x);
  // On the CPU, tokens that are not finite throw a NonFiniteError that names them.
  Pairs forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context);

  SamplerOptions options;
  torch::nn::Linear projection{nullptr};
};
TORCH_MODULE(Sampler);

}  // namespace geosft
