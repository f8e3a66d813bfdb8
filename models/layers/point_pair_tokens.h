// SPDX-License-Identifier: Apache-2.0
// Learns rotation-invariant descriptors of the neighbourhoods of points (PointTokens::ppf).
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace geosft {

struct PointPairTokensOptions {
  int64_t width = 32;           // channels per scale
  int64_t scales = 2;           // neighbourhoods per point
  int64_t max_neighbours = 16;  // per scale; of more, evenly spaced ones in order of distance are used
};

// For each scale, a network that all neighbours share (a linear map, ReLU, a linear map) of their point_pair_features,
// and its maximum over the neighbourhood, as in PPFNet (Deng et al., CVPR 2018). Invariant to rotation and translation,
// with the normals that turn with the points. Weights are initialised from LibTorch's default CPU generator; call
// torch::manual_seed before for reproducible ones.
class PointPairTokensImpl : public torch::nn::Module {
 public:
  explicit PointPairTokensImpl(const PointPairTokensOptions& options = {});

  int64_t channels() const { return options.scales * options.width; }

  // points [N, 3], normals like points or undefined, packed by ptr (int64 [B + 1] or none); neighbourhoods int64 [N, K]
  // of each scale, nearest first, as point_tokens returns them: [N, channels()] of the type of the points.
  // Differentiable in the weights, and once in the points and normals. Errors (c10::Error) name the argument.
  at::Tensor forward(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr,
                     const std::vector<at::Tensor>& neighbourhoods);

  PointPairTokensOptions options;
  torch::nn::ModuleList networks{nullptr};  // one per scale
};
TORCH_MODULE(PointPairTokens);

}  // namespace geosft
