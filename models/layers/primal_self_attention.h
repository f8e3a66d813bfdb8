// SPDX-License-Identifier: Apache-2.0
// The primal-dual attention family over all tokens, as a layer.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <optional>
#include <vector>

#include "models/layers/forward_trace.h"
#include "models/layers/primal_head_distance.h"
#include "models/layers/primal_mixing.h"

namespace geosft {

// concat_h(attention) W_O + b_O; no residual, no norm.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class PrimalSelfAttentionImpl : public torch::nn::Module {
 public:
  PrimalSelfAttentionImpl(int64_t width, int64_t heads, const PrimalOptions& options);

  // x [N, width] packed by ptr (int64 [B + 1], or none): [N, width]. Only the mask uses `relative`.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, const RelativeEncoding& relative);
  // Returns the trace of such a call.
  AttentionTrace trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                       const RelativeEncoding& relative) const;

  int64_t heads;
  PrimalOptions options;
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};
  at::Tensor beta, convolution;               // undefined if not in the options
  std::vector<at::Tensor> pooling;            // of PoolingKind::convolution, one for each factor above 1
  std::optional<HeadDistanceSums> distances;  // if present (watch_heads), calls add to it

 private:
  void check() const;
  void register_extras(int64_t width);
  PrimalWeights all_weights() const;
};
TORCH_MODULE(PrimalSelfAttention);

}  // namespace geosft
