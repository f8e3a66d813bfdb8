// SPDX-License-Identifier: Apache-2.0
#include "models/layers/relative_encoding.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace geosft {

RelativeEncoding RelativeEncoding::points(at::Tensor coordinates, at::Tensor normals) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::points;
  relative.coordinates = std::move(coordinates);
  relative.normals = std::move(normals);
  return relative;
}

RelativeEncoding RelativeEncoding::graph(at::Tensor rowptr, at::Tensor col, at::Tensor edge_attr) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::graph;
  relative.rowptr = std::move(rowptr);
  relative.col = std::move(col);
  relative.edge_attr = std::move(edge_attr);
  return relative;
}

RelativeEncoding RelativeEncoding::molecules(const RelativeEncoding& graph, at::Tensor coordinates,
                                             int64_t distance_channels, double distance_range) {
  RelativeEncoding relative = graph;
  relative.coordinates = std::move(coordinates);
  relative.distance_channels = distance_channels;
  relative.distance_range = distance_range;
  return relative;
}

RelativeEncoding RelativeEncoding::sequence(at::Tensor positions) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::sequence;
  relative.positions = std::move(positions);
  return relative;
}

at::Tensor distance_features(const at::Tensor& squared_distance, int64_t channels, double range) {
  TORCH_CHECK(channels >= 1 && range > 0, "distance features need channels >= 1 and range > 0, got ", channels, " and ",
              range);
  std::vector<at::Tensor> features = {squared_distance / (range * range)};
  const double width = range / static_cast<double>(std::max<int64_t>(channels - 2, 1));
  const at::Tensor distance = (squared_distance + smallest_squared_distance).sqrt();
  for (int64_t i = 0; i + 1 < channels; ++i) {
    features.push_back((-((distance - width * static_cast<double>(i)) / width).square()).exp());
  }
  return at::stack(features, -1);
}

at::Tensor sinusoids(int64_t n, int64_t width, const at::TensorOptions& options) {
  TORCH_CHECK(n >= 0 && width >= 1, "sinusoids need n >= 0 and width >= 1, got ", n, " and ", width);
  const auto wide = options.dtype(at::kDouble);
  const at::Tensor column = at::arange(width, wide);
  const at::Tensor exponent = at::floor(column / 2) / static_cast<double>(width);
  const at::Tensor angle = at::arange(n, wide).unsqueeze(1) / at::pow(10000.0, exponent).unsqueeze(0);
  const at::Tensor even = (at::remainder(column, 2) == 0).unsqueeze(0);
  return at::where(even, angle.sin(), angle.cos()).to(options.dtype(options.dtype()));  // names the default dtype
}

}  // namespace geosft
