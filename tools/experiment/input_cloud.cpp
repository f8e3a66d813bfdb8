// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/input_cloud.h"

#include <sstream>

#include "geometry/normals.h"
#include "geometry/points.h"

namespace geosft {
namespace {

constexpr const char* finite_rows = "points.index({points.isfinite().all(1)}) has those that are finite";

at::Tensor checked(const at::Tensor& rows, const char* name, at::ScalarType type) {
  check_points(rows, name);
  TORCH_CHECK(rows.size(0) > 0, name, " must have at least one row");
  return rows.detach().to(at::kCPU, type).contiguous();
}

at::Tensor finite_or_zero(const at::Tensor& normals) {
  return at::where(normals.isfinite().all(1, /*keepdim=*/true), normals, at::zeros_like(normals));
}

bool all_finite(const at::Tensor& rows) {
  return rows.isfinite().all().item<bool>();
}

// Returns "float32 [5, 3]" or the like.
std::string kind_of(const at::Tensor& rows) {
  if (!rows.defined()) return "none";
  std::ostringstream text;
  text << rows.scalar_type() << " " << rows.sizes();
  return text.str();
}

bool is_cloud(const at::Tensor& rows) {
  return rows.defined() && rows.dim() == 2 && rows.size(1) == 3 &&
         (rows.scalar_type() == at::kFloat || rows.scalar_type() == at::kDouble);
}

void check(Shape& shape, bool repair) {
  if (!is_cloud(shape.points) || shape.points.size(0) == 0) {
    throw DataError(cloud_name(shape), "points float32 or float64 [n, 3] with at least one row", kind_of(shape.points));
  }
  if (!all_finite(shape.points)) {
    throw DataError(cloud_name(shape), "finite coordinates", std::string("others; ") + finite_rows);
  }
  if (!shape.normals.defined()) return;
  if (!is_cloud(shape.normals) || shape.normals.sizes() != shape.points.sizes()) {
    throw DataError(cloud_name(shape), "normals of the shape of the points, " + kind_of(shape.points),
                    kind_of(shape.normals));
  }
  if (!all_finite(shape.normals)) {
    if (!repair) throw DataError(cloud_name(shape), "finite normals (0: missing)", "others");
    shape.normals = finite_or_zero(shape.normals);
  }
  shape.normals = unit_normals(shape.normals);
}

}  // namespace

Shape input_cloud(const at::Tensor& points, const at::Tensor& normals, std::vector<std::string>& warnings) {
  Shape shape{.points = {}, .normals = {}, .name = "the cloud"};
  const at::Tensor coordinates = checked(points, "points", at::kDouble);
  TORCH_CHECK(all_finite(coordinates), "points must be finite: ", finite_rows);
  if (const std::string coarse = coarse_coordinates_text(coordinates); !coarse.empty()) {
    warnings.push_back(cloud_name(shape) + ": " + coarse);
  }
  set_points(shape, coordinates);
  TORCH_CHECK(all_finite(shape.points), "points must be finite in float32");
  if (!normals.defined()) return shape;
  check_points(normals, "normals");
  TORCH_CHECK(normals.sizes() == points.sizes(), "normals must have the shape of points, ", points.sizes(), ", got ",
              normals.sizes());
  shape.normals = unit_normals(finite_or_zero(checked(normals, "normals", at::kFloat)));
  return shape;
}

std::string cloud_name(const Shape& shape) {
  return shape.name.empty() ? "the cloud" : shape.name;
}

void check_cloud(Shape& shape) {
  check(shape, /*repair=*/false);
}

void repair_cloud(Shape& shape) {
  check(shape, /*repair=*/true);
}

}  // namespace geosft
