// SPDX-License-Identifier: Apache-2.0
// Normalisation of packed tokens: of each token by itself, or of each channel over all tokens of the batch.
#pragma once

#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <string>

#include "models/layers/sampling_context.h"

namespace geosft {

enum class NormKind { layer, batch, none };

// Batch normalisation (Ioffe and Szegedy, 2015) of packed rows: no padding takes part in the statistics, which are
// those of all rows of all items. In training the statistics are those of the batch, over all processes in distributed
// training (SamplingContext::statistics), and running averages of them are kept in buffers, with which a module that is
// in eval mode normalises. There a normalised value is limited to kMaxNormalized: in training it is at most the square
// root of the rows of the batch, whereas a running variance of nearly 0, that of a channel of rare features, has no
// bound. Sums are in float64 and in a fixed order: the same bits on any number of threads. Statistics that are not
// finite leave the buffers as they are.
class PackedBatchNormImpl : public torch::nn::Module {
 public:
  static constexpr double kMaxNormalized = 32.0;  // that of a batch of 1,024 rows

  // channels >= 1. momentum: the weight of a batch in the running averages.
  explicit PackedBatchNormImpl(int64_t channels, double momentum = 0.1, double eps = 1e-5);

  // x [n, channels] of the type of the parameters: the same shape and type.
  at::Tensor forward(const at::Tensor& x, SamplingContext& context);

  at::Tensor weight, bias;               // [channels]
  at::Tensor running_mean, running_var;  // [channels]; the variance is the unbiased one, as in torch.nn.BatchNorm1d

 private:
  double momentum_, eps_;
};
TORCH_MODULE(PackedBatchNorm);

// Returns the number of PackedBatchNorm modules in a module: statistics that a forward pass in training sums.
int64_t batch_norm_count(const torch::nn::Module& module);

// One kind of normalisation, registered in its owner under a name; the identity for NormKind::none.
struct Normalization {
  Normalization() = default;
  Normalization(torch::nn::Module& owner, const std::string& name, NormKind kind, int64_t channels);

  at::Tensor operator()(const at::Tensor& x, SamplingContext& context);

  torch::nn::LayerNorm layer{nullptr};  // one of the two is set, or none
  PackedBatchNorm batch{nullptr};
};

}  // namespace geosft
