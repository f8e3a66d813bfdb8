// SPDX-License-Identifier: Apache-2.0
// Part segmentation of point clouds: a linear head on every token (SFT sections 5 and 6).
#pragma once

#include "models/layers/heads.h"
#include "models/point_encoding.h"

namespace geosft {

struct PointSegmenterOptions {
  int64_t parts = 2;
  int64_t categories = 0;                    // shape categories, a one-hot input of every point; 0: no such input
  bool normals = true;                       // clouds come with normals
  PointTokens tokens = PointTokens::radial;  // the absolute kinds make the model depend on the pose
  PointRelative relative = PointRelative::paper;
  bool chirality = false;   // with relative angles: see with_point_relations
  LayerOptions layer = {};  // its relative kind and channels are set from `normals`, `relative` and `chirality`
  int64_t layers = 3;
  bool canonical_order = true;  // outside training; see encode_points
};

// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class PointSegmenterImpl : public torch::nn::Module {
 public:
  explicit PointSegmenterImpl(const PointSegmenterOptions& options);
  // A copy with parameters and buffers of its own, on `device` or where this one is.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

  // points [N, 3], normals [N, 3] (undefined unless options.normals), ptr int64 [B + 1] or none, category int64 [B] in
  // [0, categories) (undefined if categories is 0; checked on the CPU): logits [N, parts], a row for every point in the
  // order of `points`.
  at::Tensor forward(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr,
                     const at::Tensor& category, SamplingContext& context);

  PointSegmenterOptions options;
  PointPairTokens ppf{nullptr};  // learned tokens; empty unless tokens are PointTokens::ppf
  torch::nn::Linear embed{nullptr};
  Encoder encoder{nullptr};
  TokenHead head{nullptr};
};
TORCH_MODULE(PointSegmenter);

}  // namespace geosft
