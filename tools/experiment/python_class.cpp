// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/python_class.h"

#include "geometry/points.h"
#include "tools/experiment/python_class.h"

namespace geosft {
namespace {

at::Tensor checked(const at::Tensor& rows, const char* name, at::ScalarType type) {
  check_points(rows, name);
  TORCH_CHECK(rows.size(0) > 0, name, " must have at least one row");
  return rows.detach().to(at::kCPU, type).contiguous();
}

}  // namespace

Shape input_cloud(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
  Shape shape{.points = {}, .normals = {}, .name = "points"};
  const at::Tensor coordinates = checked(points, "points", at::kDouble);
  check_finite(coordinates, "points");
  set_points(shape, coordinates);
  check_finite(shape.points, "points");
  if (!normals.has_value()) return shape;
  const at::Tensor given = checked(*normals, "normals", at::kFloat);
  shape.normals = at::where(given.isfinite().all(1, /*keepdim=*/true), given, at::zeros_like(given));
  TORCH_CHECK(shape.normals.sizes() == shape.points.sizes(), "normals must have the shape of points, ",
              shape.points.sizes(), ", got ", shape.normals.sizes());
  return shape;
}

}  // namespace geosft
