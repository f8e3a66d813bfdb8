// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape.h"

#include <cmath>

#include "geometry/normals.h"

namespace geosft {
namespace {

// A cloud is far from the origin if its largest coordinate is more than this many times its extent.
constexpr double far_away = 16.0;

}  // namespace

at::Tensor offset_from_origin(const at::Tensor& coordinates) {
  const at::Tensor low = coordinates.amin(0), high = coordinates.amax(0);
  const double extent = (high - low).max().item<double>(),
               reach = at::maximum(low.abs(), high.abs()).max().item<double>();
  if (!std::isfinite(extent) || reach <= far_away * extent) return {};
  if (coordinates.to(at::kFloat).to(at::kDouble).equal(coordinates)) return {};
  if (extent == 0) return low;
  // A multiple of a power of two: coordinates of few digits are still exact after the subtraction.
  const double unit = std::exp2(std::ceil(std::log2(extent)));
  return ((low + (high - low) / 2) / unit).round() * unit;
}

int64_t fill_missing_normals(Shape& shape) {
  if (!shape.normals.defined()) return 0;
  const at::Tensor missing = (shape.normals == 0).all(1, /*keepdim=*/true);
  const auto count = missing.sum().item<int64_t>();
  if (count == 0) return 0;
  at::Tensor estimated = estimate_normals(shape.points);
  if ((estimated * shape.normals).sum().item<double>() < 0) estimated = -estimated;
  shape.normals = at::where(missing, estimated, shape.normals);
  return count;
}

std::string missing_normals_text(const Shape& shape, int64_t missing) {
  return std::to_string(missing) + " of its " + std::to_string(shape.points.size(0)) +
         " points have no normals: they are estimated";
}

void set_points(Shape& shape, const at::Tensor& coordinates) {
  shape.offset = offset_from_origin(coordinates);
  shape.points = (shape.offset.defined() ? coordinates - shape.offset : coordinates).to(at::kFloat);
}

at::Tensor file_coordinates(const Shape& shape) {
  const at::Tensor scaled = shape.scale == 1.0 ? shape.points : shape.points.to(at::kDouble) * shape.scale;
  return shape.offset.defined() ? scaled.to(at::kDouble) + shape.offset : scaled;
}

}  // namespace geosft
