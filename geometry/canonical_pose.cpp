// SPDX-License-Identifier: Apache-2.0
#include "geometry/canonical_pose.h"

#include <ATen/Parallel.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <vector>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

using ConstRows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;
using TurnedRows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;

// Below this share of the largest distance from the centroid a coordinate, and of its square a difference of squared
// distances, is rounding.
constexpr double negligible = 1e-13;

struct Pose {
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  double length = 0;  // the largest distance from the centroid
};

// Returns the row of `offsets` with the largest norm; ties, and squared norms that differ by at most `margin`, which
// rounding may order either way in symmetric clouds, go to the lowest row.
Eigen::Vector3d longest(const std::vector<Eigen::Vector3d>& offsets, double margin) {
  Eigen::Vector3d found = offsets.front();
  for (const Eigen::Vector3d& offset : offsets) {
    if (offset.squaredNorm() > found.squaredNorm() + margin) found = offset;
  }
  return found;
}

// Returns the rotation of an item with at least one row.
Pose pose_of(const ConstRows& points) {
  // Relative to the first row: differences of equal rows are then exactly 0.
  const Eigen::RowVector3d origin = points.row(0);
  const Eigen::RowVector3d centre = (points.rowwise() - origin).colwise().mean();
  std::vector<Eigen::Vector3d> offsets;
  offsets.reserve(static_cast<size_t>(points.rows()));
  for (int64_t i = 0; i < points.rows(); ++i) offsets.emplace_back((points.row(i) - origin - centre).transpose());
  double largest = 0;
  for (const Eigen::Vector3d& offset : offsets) largest = std::max(largest, offset.squaredNorm());
  const Eigen::Vector3d first = longest(offsets, negligible * largest);
  const double length = first.stableNorm();
  if (length == 0) return {};
  const Eigen::Vector3d x = first / length;
  for (Eigen::Vector3d& offset : offsets) offset -= offset.dot(x) * x;
  const Eigen::Vector3d second = longest(offsets, negligible * largest);
  const bool collinear = second.stableNorm() <= negligible * length;
  // Subtracts once more, as rounding left something along x.
  const Eigen::Vector3d y = collinear ? x.unitOrthogonal() : (second - second.dot(x) * x).stableNormalized();
  Pose pose{Eigen::Matrix3d(), length};
  pose.turn << x.transpose(), y.transpose(), x.cross(y).transpose();
  return pose;
}

// Writes the turned rows. What is smaller than `smallest` becomes 0: float32 would keep the digits of its rounding.
void write_turned(const ConstRows& rows, const Pose& pose, double smallest, double* out) {
  TurnedRows turned(out, rows.rows(), 3);
  turned = rows * pose.turn.transpose();
  turned = (turned.array().abs() < smallest).select(0.0, turned);
}

std::tuple<at::Tensor, at::Tensor> canonical_pose_cpu(const at::Tensor& points,
                                                      const std::optional<at::Tensor>& normals,
                                                      const std::optional<at::Tensor>& ptr) {
  const PosedClouds posed = canonical_pose(points, normals.value_or(at::Tensor()), ptr);
  return {posed.points, posed.normals.defined() ? posed.normals : at::empty({0, 3}, at::kDouble)};
}

// For the models in Python; without normals, the second result is empty.
GEOSFT_OPERATORS(m) {
  m.def("_canonical_pose(Tensor points, Tensor? normals=None, Tensor? ptr=None) -> (Tensor, Tensor)");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_canonical_pose", canonical_pose_cpu);
}

}  // namespace

PosedClouds canonical_pose(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr) {
  check_points(points, "points");
  TORCH_CHECK(points.is_cpu(), "points must be on the CPU, not on ", points.device());
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const at::Tensor from = points.detach().to(at::kDouble).contiguous();
  check_finite(from, "points");
  PosedClouds posed{at::empty_like(from), {}};
  at::Tensor directions;
  if (normals.defined()) {
    check_points(normals, "normals");
    TORCH_CHECK(normals.sizes() == points.sizes() && normals.is_cpu(), "normals must have the shape of points, ",
                points.sizes(), ", and be on the CPU, got ", normals.sizes(), " on ", normals.device());
    directions = normals.detach().to(at::kDouble).contiguous();
    posed.normals = at::empty_like(directions);
  }
  const double* in = from.const_data_ptr<double>();
  const double* in_normals = directions.defined() ? directions.const_data_ptr<double>() : nullptr;
  double* out = posed.points.data_ptr<double>();
  double* out_normals = directions.defined() ? posed.normals.data_ptr<double>() : nullptr;
  at::parallel_for(0, static_cast<int64_t>(offsets.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = 3 * offsets[b], count = offsets[b + 1] - offsets[b];
      if (count == 0) continue;
      const ConstRows item(in + first, count, 3);
      const Pose pose = pose_of(item);
      write_turned(item, pose, negligible * pose.length, out + first);
      if (in_normals) write_turned(ConstRows(in_normals + first, count, 3), pose, negligible, out_normals + first);
    }
  });
  return posed;
}

}  // namespace geosft
