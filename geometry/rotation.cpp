// SPDX-License-Identifier: Apache-2.0
#include "geometry/rotation.h"

#include <Eigen/Geometry>
#include <cmath>

#include "geometry/no_autocast.h"
#include "geometry/points.h"

namespace geosft {
namespace {

at::Tensor to_tensor(const Eigen::Matrix3d& matrix, at::ScalarType dtype) {
  TORCH_CHECK(dtype == at::kFloat || dtype == at::kDouble, "dtype must be float32 or float64, not ", dtype);
  at::Tensor result = at::empty({3, 3}, at::kDouble);
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(result.data_ptr<double>()) = matrix;
  return result.to(dtype);
}

void check_rotation(const at::Tensor& rotation) {
  TORCH_CHECK(rotation.defined() && rotation.dim() == 2 && rotation.size(0) == 3 && rotation.size(1) == 3,
              "rotation must have shape [3, 3], got ", rotation.defined() ? rotation.sizes() : at::IntArrayRef{});
  const at::Tensor host = rotation.detach().to(at::kCPU, at::kDouble).contiguous();
  const Eigen::Map<const Eigen::Matrix3d> transposed(host.const_data_ptr<double>());
  const double error = (transposed * transposed.transpose() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff();
  const double tolerance = rotation.scalar_type() == at::kDouble ? 1e-10 : 1e-4;
  TORCH_CHECK(error <= tolerance, "rotation must be orthonormal: R^T R differs from 1 by ", error, ", more than ",
              tolerance);
  TORCH_CHECK(transposed.determinant() > 0, "rotation must have determinant 1, got a reflection (-1)");
}

}  // namespace

at::Tensor random_rotation(at::Generator generator, at::ScalarType dtype) {
  Eigen::Quaterniond quaternion(0, 0, 0, 0);
  // Resample vectors too short to normalize accurately, which practically never occur.
  while (quaternion.norm() < 1e-8) {
    const at::Tensor normal = at::randn({4}, generator, at::TensorOptions().dtype(at::kDouble));
    quaternion = Eigen::Quaterniond(normal.const_data_ptr<double>());
  }
  return to_tensor(quaternion.normalized().toRotationMatrix(), dtype);
}

at::Tensor axis_rotation(const std::array<double, 3>& axis, double angle, at::ScalarType dtype) {
  const Eigen::Vector3d direction(axis.data());
  TORCH_CHECK(direction.allFinite() && direction.stableNorm() > 0, "axis must be finite and not zero, got (", axis[0],
              ", ", axis[1], ", ", axis[2], ")");
  TORCH_CHECK(std::isfinite(angle), "angle must be finite, got ", angle);
  const Eigen::Vector3d unit = direction.stableNormalized();
  Eigen::Matrix3d matrix = Eigen::AngleAxisd(angle, unit).toRotationMatrix();
  for (int i = 0; i < 3; ++i) {
    if (std::abs(unit[i]) == 1) matrix(i, i) = 1;  // which 1 - cos + cos may miss by a rounding
  }
  return to_tensor(matrix, dtype);
}

at::Tensor rotate(const at::Tensor& points, const at::Tensor& rotation) {
  check_points(points, "points");
  if (rotation.defined()) check_same_kind(points, "points", rotation, "rotation");
  check_rotation(rotation);
  const NoAutocast no_autocast;
  return at::matmul(points, rotation.t());
}

}  // namespace geosft
