// SPDX-License-Identifier: Apache-2.0
// Heads map tokens to predictions (SFT section 5), one per item or one per token. x [N, width] are tokens packed by ptr
// (int64 [B + 1], or none for one item), of the floating type of the parameters (of any under autocast); predictions
// have the type of the linear map's output. Errors (c10::Error): a ptr that does not match x names ptr, a wrong width
// is LibTorch's own. Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for
// reproducible ones.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "models/layers/sampler.h"

namespace geosft {

// layers - 1 times a linear map to `hidden` channels with GELU and dropout, then a linear map. [n, inputs] -> [n,
// outputs]. `before` is the number of rows of earlier parts of the batch, for the dropout masks.
class MlpImpl : public torch::nn::Module {
 public:
  // Throws c10::Error unless layers is at least 1.
  MlpImpl(int64_t inputs, int64_t hidden, int64_t outputs, int64_t layers, double dropout = 0.0);
  at::Tensor forward(at::Tensor x, SamplingContext& context, std::optional<int64_t> before = std::nullopt);

  torch::nn::ModuleList linears{nullptr};
  double dropout;
};
TORCH_MODULE(Mlp);

// Averages the rows of each item: x [N, d] packed by ptr: [B, d] of the type of x, 0 for an empty item.
at::Tensor mean_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

// Point-cloud classification: a sample of the tokens, their maximum, a linear map. [N, width] -> [B, outputs].
class SampleMaxHeadImpl : public torch::nn::Module {
 public:
  SampleMaxHeadImpl(int64_t width, int64_t outputs, const SamplerOptions& sampler, double dropout = 0.0);
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context);

  Sampler sampler{nullptr};
  torch::nn::Linear linear{nullptr};
  double dropout;  // of the pooled features
};
TORCH_MODULE(SampleMaxHead);

// Every other classification or regression: softmax-weighted aggregation, a linear map. [N, width] -> [B, outputs].
class SoftmaxPoolHeadImpl : public torch::nn::Module {
 public:
  SoftmaxPoolHeadImpl(int64_t width, int64_t outputs);
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  at::Tensor u;  // [width]
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(SoftmaxPoolHead);

// Whether two items belong together (dual encoder of the Long Range Arena): softmax-weighted aggregation a and b of
// each, then a hidden layer of (a, b, a b, a - b) with ReLU, and a linear map. Items 2 i and 2 i + 1 are pair i: [N,
// width] packed by ptr int64 [2 B + 1] -> [B, outputs]. An odd number of items is an error.
class PairHeadImpl : public torch::nn::Module {
 public:
  PairHeadImpl(int64_t width, int64_t outputs);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& ptr);

  at::Tensor u;  // [width]
  torch::nn::Linear hidden{nullptr}, linear{nullptr};
};
TORCH_MODULE(PairHead);

// Regression of additive quantities such as energies: a linear map of every token, summed over each item.
// [N, width] -> [B, outputs].
class SumHeadImpl : public torch::nn::Module {
 public:
  SumHeadImpl(int64_t width, int64_t outputs);
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(SumHead);

// How the tokens of an item become one vector.
enum class Pooling {
  softmax,     // weighted by a softmax of a learned projection
  sample_max,  // maximum over a sample
  sum,
  mean,
  max,
};

struct PooledHeadOptions {
  Pooling pooling = Pooling::softmax;
  int64_t layers = 1;           // of the MLP after the pooling, whose hidden layers have the width of the tokens
  int64_t graph_features = 0;   // features of each item, concatenated to its pooled tokens
  double dropout = 0.0;         // of the input of every layer of the MLP
  SamplerOptions sampler = {};  // for sample_max
};

// Classification or regression of items: pooled tokens, concatenated with given features of the item, then an MLP.
// [N, width] and [B, graph_features] -> [B, outputs].
class PooledHeadImpl : public torch::nn::Module {
 public:
  PooledHeadImpl(int64_t width, int64_t outputs, const PooledHeadOptions& options);
  // graph_features [B, F] of a floating type; undefined if F is 0. Another shape is an error that names it.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context,
                     const at::Tensor& graph_features = {});

  PooledHeadOptions options;
  at::Tensor u;              // [width], for softmax
  Sampler sampler{nullptr};  // for sample_max
  Mlp mlp{nullptr};

 private:
  at::Tensor pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context);
};
TORCH_MODULE(PooledHead);

// Segmentation and node classification: a linear map of every token. [N, width] -> [N, outputs].
class TokenHeadImpl : public torch::nn::Module {
 public:
  TokenHeadImpl(int64_t width, int64_t outputs);
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(TokenHead);

}  // namespace geosft
