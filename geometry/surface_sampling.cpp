// SPDX-License-Identifier: Apache-2.0
#include "geometry/surface_sampling.h"

#include <ATen/Parallel.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/points.h"

namespace geosft {
namespace {

using Eigen::Vector3d;

void check_mesh(const Mesh& mesh) {
  check_points(mesh.vertices, "mesh vertices");
  TORCH_CHECK(mesh.faces.defined() && mesh.faces.dim() == 2 && mesh.faces.size(1) == 3,
              "mesh faces must have shape [F, 3], got ", mesh.faces.defined() ? mesh.faces.sizes() : at::IntArrayRef{});
  TORCH_CHECK(mesh.faces.scalar_type() == at::kLong, "mesh faces must be int64, not ", mesh.faces.scalar_type());
  TORCH_CHECK(mesh.vertices.is_cpu() && mesh.faces.is_cpu(), "mesh vertices and faces must be on the CPU, not on ",
              mesh.vertices.device(), " and ", mesh.faces.device());
  TORCH_CHECK(mesh.faces.size(0) > 0, "mesh faces are missing: a surface needs at least one");
}

// Contiguous copies of the arrays of the mesh, with Eigen vectors as elements.
class Triangles {
 public:
  explicit Triangles(const Mesh& mesh) {
    check_mesh(mesh);
    vertices_ = mesh.vertices.to(at::kDouble).contiguous();
    faces_ = mesh.faces.contiguous();
    check_finite(vertices_, "mesh vertices");
    const int64_t* rows = faces_.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < faces_.numel(); ++i) {
      TORCH_CHECK(rows[i] >= 0 && rows[i] < vertices_.size(0), "mesh faces must hold rows of the ", vertices_.size(0),
                  " vertices, but face ", i / 3, " holds ", rows[i]);
    }
  }
  int64_t count() const { return faces_.size(0); }
  Vector3d corner(int64_t face, int64_t which) const {
    const int64_t row = faces_.const_data_ptr<int64_t>()[3 * face + which];
    return Vector3d(vertices_.const_data_ptr<double>() + 3 * row);
  }
  // Returns a vector perpendicular to the face, with twice its area as length.
  Vector3d doubled_area(int64_t face) const {
    return (corner(face, 1) - corner(face, 0)).cross(corner(face, 2) - corner(face, 0));
  }

 private:
  at::Tensor vertices_, faces_;
};

// Returns the cumulative sum of the doubled areas of the faces.
std::vector<double> cumulative_areas(const Triangles& triangles) {
  std::vector<double> sums(static_cast<size_t>(triangles.count()));
  double sum = 0;
  // stableNorm: squares of tiny areas underflow.
  for (int64_t face = 0; face < triangles.count(); ++face) {
    sum += triangles.doubled_area(face).stableNorm();
    sums[face] = sum;
  }
  return sums;
}

// Returns the face at the fraction u in [0, 1) of the cumulative area. Faces of zero area are never returned, even if
// the product is rounded up.
int64_t face_at(const std::vector<double>& sums, double u) {
  const double target = std::min(u * sums.back(), std::nextafter(sums.back(), 0.0));
  return std::upper_bound(sums.begin(), sums.end(), target) - sums.begin();
}

// Maps rows [n, 3] to a writable Eigen matrix.
Eigen::Map<Eigen::Matrix<double, 3, Eigen::Dynamic>> columns(at::Tensor& rows) {
  return {rows.data_ptr<double>(), 3, rows.size(0)};
}

}  // namespace

SurfaceSample sample_surface(const Mesh& mesh, int64_t count, at::Generator generator, at::ScalarType dtype) {
  TORCH_CHECK(count >= 1, "count must be at least 1, got ", count);
  TORCH_CHECK(dtype == at::kFloat || dtype == at::kDouble, "dtype must be float32 or float64, not ", dtype);
  const Triangles triangles(mesh);
  const std::vector<double> sums = cumulative_areas(triangles);
  TORCH_CHECK(std::isfinite(sums.back()), "mesh vertices are too far apart: the area of the surface is ", sums.back());
  TORCH_CHECK(sums.back() > 0, "mesh faces have zero area, all ", triangles.count(),
              " of them: there is no surface to sample");
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor uniform = at::rand({count, 3}, generator, wide);
  const double* u = uniform.const_data_ptr<double>();
  at::Tensor all_points = at::empty({count, 3}, wide), all_normals = at::empty({count, 3}, wide);
  auto points = columns(all_points), normals = columns(all_normals);
  at::parallel_for(0, count, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t face = face_at(sums, u[3 * i]);
      const double root = std::sqrt(u[3 * i + 1]), share = u[3 * i + 2];
      points.col(i) = (1 - root) * triangles.corner(face, 0) + root * (1 - share) * triangles.corner(face, 1) +
                      root * share * triangles.corner(face, 2);
      normals.col(i) = triangles.doubled_area(face).stableNormalized();
    }
  });
  return {all_points.to(dtype), all_normals.to(dtype)};
}

double surface_area(const Mesh& mesh) {
  return cumulative_areas(Triangles(mesh)).back() / 2;
}

}  // namespace geosft
