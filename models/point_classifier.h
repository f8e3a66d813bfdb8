// SPDX-License-Identifier: Apache-2.0
// Classification of point clouds (SFT sections 5 and 6).
#pragma once

#include "models/layers/heads.h"
#include "models/point_encoding.h"

namespace geosft {

struct PointClassifierOptions {
  int64_t classes = 2;
  bool normals = true;                       // clouds come with normals
  PointTokens tokens = PointTokens::radial;  // the absolute kinds make the model depend on the pose
  PointRelative relative = PointRelative::paper;
  bool chirality = false;   // with relative angles: see with_point_relations
  LayerOptions layer = {};  // its relative kind and channels are set from `normals`, `relative` and `chirality`
  int64_t layers = 3;
  SamplerOptions head_sampler = {.num_samples = 512};
  double head_dropout = 0.0;
  bool canonical_order = true;  // outside training; see encode_points
};

// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class PointClassifierImpl : public torch::nn::Module {
 public:
  explicit PointClassifierImpl(const PointClassifierOptions& options);
  // A copy with parameters and buffers of its own, on `device` or where this one is.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

  // points [N, 3], normals [N, 3] (undefined unless options.normals), ptr int64 [B + 1] or none: logits [B, classes].
  // Coordinates are taken as they are: a trained model expects each cloud as in its training, by default with its
  // centroid at the origin and its largest distance 1 (geometry/normalize.h), and unit normals that point outward.
  at::Tensor forward(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context);

  // The logits, and the importance of each token [N]: its score in the sampler of the head.
  struct Explanation {
    at::Tensor logits, importance;
  };
  Explanation explain(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr,
                      SamplingContext& context);

  PointClassifierOptions options;
  PointPairTokens ppf{nullptr};  // learned tokens; empty unless tokens are PointTokens::ppf
  torch::nn::Linear embed{nullptr};
  Encoder encoder{nullptr};
  SampleMaxHead head{nullptr};

 private:
  EncodedPoints encode(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr,
                       SamplingContext& context);
};
TORCH_MODULE(PointClassifier);

}  // namespace geosft
