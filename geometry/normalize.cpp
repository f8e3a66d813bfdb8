// SPDX-License-Identifier: Apache-2.0
#include "geometry/normalize.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/deterministic_scatter_sum.h"
#include "geometry/device_offsets.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

template <typename scalar_t>
Eigen::Vector3d row(const scalar_t* points, int64_t i) {
  return {static_cast<double>(points[3 * i]), static_cast<double>(points[3 * i + 1]),
          static_cast<double>(points[3 * i + 2])};
}

// Returns the centroid relative to the first row: differences of equal rows are then exactly 0, and clouds far from the
// origin lose no precision.
template <typename scalar_t>
Eigen::Vector3d centroid_offset(const scalar_t* points, int64_t count) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int64_t i = 0; i < count; ++i) sum += row(points, i) - row(points, 0);
  return sum / static_cast<double>(count);
}

template <typename scalar_t>
void normalize_item(const scalar_t* points, int64_t count, scalar_t* out, double* centroid, double* scale) {
  Eigen::Map<Eigen::Vector3d> centre(centroid);
  centre.setZero();
  *scale = 0;
  if (count == 0) return;
  const Eigen::Vector3d origin = row(points, 0), offset = centroid_offset(points, count);
  centre = origin + offset;
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, ((row(points, i) - origin) - offset).squaredNorm());
  *scale = std::sqrt(largest);
  TORCH_CHECK(std::isfinite(*scale) && centre.allFinite(), "points are too far apart to be normalised: distance ",
              *scale);
  const double divisor = *scale > 0 ? *scale : 1;
  for (int64_t i = 0; i < count; ++i) {
    const Eigen::Vector3d moved = ((row(points, i) - origin) - offset) / divisor;
    for (int64_t axis = 0; axis < 3; ++axis) out[3 * i + axis] = static_cast<scalar_t>(moved[axis]);
  }
}

}  // namespace

NormalizedPoints normalize(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  check_points(points, "points");
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const at::Tensor contiguous = points.detach().contiguous();
  check_finite(contiguous, "points");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  NormalizedPoints result{at::empty_like(contiguous), at::empty({items, 3}, at::kDouble),
                          at::empty({items}, at::kDouble)};
  double* centroid = result.centroid.data_ptr<double>();
  double* scale = result.scale.data_ptr<double>();
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "normalize", [&] {
    const scalar_t* in = contiguous.const_data_ptr<scalar_t>();
    scalar_t* out = result.points.data_ptr<scalar_t>();
    at::parallel_for(0, items, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        normalize_item(in + 3 * offsets[b], offsets[b + 1] - offsets[b], out + 3 * offsets[b], centroid + 3 * b,
                       scale + b);
      }
    });
  });
  return result;
}

at::Tensor centred_points(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  const at::Tensor item = item_of_row_on_device(ptr, points.size(0), points.device());
  const at::Tensor count =
      given(ptr) ? ptr_on_device(ptr, points.device(), "ptr").diff() : at::full({1}, points.size(0), item.options());
  const at::Tensor sum = deterministic_scatter_sum(points, item, count.size(0));
  return points - (sum / count.clamp_min(1).unsqueeze(1).to(points.scalar_type())).index_select(0, item);
}

}  // namespace geosft
