// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/prediction.h"

#include <algorithm>

#include "tools/experiment/input_cloud.h"

namespace geosft {
namespace {

// Adds what the model makes of a prepared shape.
void predict_shape(RunModel& trained, const Shape& shape, int64_t top, Prediction& prediction) {
  TORCH_CHECK(top >= 1, "top must be at least 1, got ", top);
  const ShapeExplanation found = explain_shape(trained, shape, Rotation::none, 0);
  prediction.points = found.seen.points;
  const at::Tensor exact = file_coordinates(found.seen);
  prediction.file_points = offset_from_origin(exact).defined() ? exact : exact.to(at::kFloat);
  prediction.file_normals = found.seen.file_normals;
  prediction.importance = found.importance;
  const at::Tensor probability = found.logits.softmax(0).to(at::kDouble);
  const int64_t shown = std::min<int64_t>(top, probability.size(0));
  const auto [values, labels] = probability.topk(shown);
  for (int64_t i = 0; i < shown; ++i) {
    prediction.ranking.emplace_back(static_cast<size_t>(labels[i].item<int64_t>()), values[i].item<double>());
  }
}

}  // namespace

Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top, const FileOptions& options) {
  Prediction prediction;
  predict_shape(trained, read_prepared(trained.settings, file, prediction.warnings, options), top, prediction);
  return prediction;
}

Prediction predict(RunModel& trained, const at::Tensor& points, const at::Tensor& normals, int64_t top) {
  Prediction prediction;
  Shape shape = input_cloud(points, normals, prediction.warnings);
  prepare(trained.settings, shape, prediction.warnings);
  predict_shape(trained, shape, top, prediction);
  return prediction;
}

}  // namespace geosft
