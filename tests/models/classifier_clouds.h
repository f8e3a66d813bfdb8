// SPDX-License-Identifier: Apache-2.0
// Clouds and classifiers that the tests of point_classifier.h share.
#pragma once

#include <vector>

#include "geometry/rotation.h"
#include "models/point_classifier.h"
#include "tests/models/small_layer.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::classifier_clouds {

// Clouds of two ellipsoids side by side, scaled to the unit ball, with normals.
struct Clouds {
  at::Tensor points, normals, ptr;

  explicit Clouds(const std::vector<int64_t>& sizes, at::ScalarType dtype = at::kDouble) {
    std::vector<at::Tensor> all, directions;
    std::vector<int64_t> offsets{0};
    for (size_t b = 0; b < sizes.size(); ++b) {
      at::Generator random = generator(20 + b);
      const at::Tensor part = at::arange(sizes[b], at::kLong) % 2;
      const at::Tensor axes = at::rand({2, 3}, random, at::kDouble).index_select(0, part) * 0.9 + 0.1;
      const at::Tensor centre = at::randn({2, 3}, random, at::kDouble).index_select(0, part) * 0.6;
      const at::Tensor direction = unit(at::randn({sizes[b], 3}, random, at::kDouble));
      const at::Tensor cloud = direction * axes + centre;
      const at::Tensor centred = cloud - cloud.mean(0, true);
      all.push_back(centred / centred.norm(2, -1).max().clamp_min(1e-3));
      directions.push_back(unit(direction / axes));
      offsets.push_back(offsets.back() + sizes[b]);
    }
    points = at::cat(all).to(dtype);
    normals = at::cat(directions).to(dtype);
    ptr = at::tensor(offsets, at::kLong);
  }
};

inline PointClassifier classifier(PointTokens tokens, bool normals, at::ScalarType dtype = at::kDouble,
                                  NormPlacement norm = NormPlacement::pre, uint64_t seed = 1,
                                  PointRelative relative = PointRelative::paper, bool chirality = false) {
  PointClassifierOptions options;
  options.classes = 5;
  options.normals = normals;
  options.tokens = tokens;
  options.relative = relative;
  options.chirality = chirality;
  options.layer = small_layer(12, 32);
  options.layer.norm = norm;
  options.layers = 3;
  options.head_sampler.num_samples = 24;
  manual_seed(seed);
  PointClassifier model(options);
  model->to(dtype);
  return model;
}

inline at::Tensor logits(PointClassifier& model, const Clouds& clouds, SamplingContext context) {
  at::NoGradGuard guard;
  return model->forward(clouds.points, model->options.normals ? clouds.normals : at::Tensor(), clouds.ptr, context);
}

// Every cloud's points shuffled; rotated and translated too, if `turn`.
inline Clouds moved(const Clouds& clouds, uint64_t seed, bool turn = true) {
  Clouds copy = clouds;
  const at::Tensor rotation = turn ? random_rotation(generator(seed), at::kDouble) : at::eye(3, at::kDouble);
  const at::Tensor shift = turn ? normal({3}, seed + 1) : at::zeros({3}, at::kDouble);
  std::vector<at::Tensor> order;
  for (int64_t b = 0; b + 1 < clouds.ptr.numel(); ++b) {
    const int64_t first = clouds.ptr[b].item<int64_t>(), count = clouds.ptr[b + 1].item<int64_t>() - first;
    order.push_back(at::randperm(count, generator(seed + 2 + b)) + first);
  }
  // In float64, so that the cloud itself moves exactly and only what the model sees is rounded.
  const at::Tensor rows = at::cat(order);
  const auto dtype = clouds.points.scalar_type();
  copy.points = (rotate(clouds.points.to(at::kDouble), rotation) + shift).index_select(0, rows).to(dtype);
  copy.normals = rotate(clouds.normals.to(at::kDouble), rotation).index_select(0, rows).to(dtype);
  return copy;
}

inline double largest_change(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max()).item<double>();
}

}  // namespace geosft::test::classifier_clouds
