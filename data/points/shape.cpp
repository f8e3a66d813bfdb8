// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape.h"

#include <cmath>
#include <sstream>

#include "geometry/normals.h"

namespace geosft {
namespace {

// A cloud is far from the origin if its largest coordinate is more than this many times its extent: float32 would then
// hold fewer digits of its form than of one at the origin.
constexpr double far_away = 2.0;

}  // namespace

at::Tensor offsets_from_origin(const at::Tensor& clouds) {
  const at::Tensor low = clouds.amin(1), high = clouds.amax(1);
  const at::Tensor extent = (high - low).amax(1, /*keepdim=*/true),
                   reach = at::maximum(low.abs(), high.abs()).amax(1, /*keepdim=*/true);
  const at::Tensor rounded = (clouds.to(at::kFloat) != clouds).flatten(1).any(1, /*keepdim=*/true);
  const at::Tensor needed = at::isfinite(extent) & (reach > far_away * extent) & rounded;
  // A multiple of a power of two: coordinates of few digits are still exact after the subtraction.
  const at::Tensor unit = extent.log2().ceil().exp2();
  const at::Tensor middle = ((low + (high - low) / 2) / unit).round() * unit;
  return at::where(needed, at::where(extent == 0, low, middle), at::zeros_like(low));
}

at::Tensor offset_from_origin(const at::Tensor& coordinates) {
  const at::Tensor offset = offsets_from_origin(coordinates.unsqueeze(0)).squeeze(0);
  return offset.any().item<bool>() ? offset : at::Tensor();
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
         (missing == 1 ? " points has no normal: it is estimated" : " points have no normals: they are estimated");
}

std::string coarse_coordinates_text(const at::Tensor& coordinates) {
  constexpr double fine = 1e-3;
  const at::Tensor low = coordinates.amin(0), high = coordinates.amax(0);
  const double extent = (high - low).max().item<double>();
  const at::Tensor step = (at::maximum(low.abs(), high.abs()).log2().floor() - 23).exp2();
  if (!std::isfinite(extent) || extent == 0 || step.max().item<double>() <= fine * extent) return "";
  if ((coordinates.to(at::kFloat) != coordinates).any().item<bool>()) return "";
  const at::Tensor on_odd_lines = ((coordinates / step).fmod(2).abs() == 1) & (step > fine * extent);
  if (!on_odd_lines.any().item<bool>()) return "";
  const double coarsest = step.masked_select(on_odd_lines.any(0)).max().item<double>();
  std::ostringstream text;
  text << "its coordinates are float32 numbers in steps of " << coarsest << ", coarse for an extent of " << extent
       << ": coordinates in float64 or nearer to the origin would keep its form";
  return text.str();
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
