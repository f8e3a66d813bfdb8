// SPDX-License-Identifier: Apache-2.0
#include "geometry/canonical_pose.h"

#include <catch2/catch.hpp>

#include "geometry/normalize.h"
#include "geometry/rotation.h"
#include "tests/support.h"

namespace geosft::test::test_canonical_pose {
using test::require_close;
using test::require_equal;
using test::require_error;

namespace {

at::Tensor normal_rows(int64_t rows, uint64_t seed) {
  return at::randn({rows, 3}, test::generator(seed), at::TensorOptions().dtype(at::kDouble));
}

at::Tensor inner_products(const at::Tensor& points) {
  return points.matmul(points.t());
}

}  // namespace

TEST_CASE("canonical_pose: the farthest row lies along x, the one farthest from it in the plane of x and y") {
  const at::Tensor points = normalize(normal_rows(60, 1)).points, normals = normal_rows(60, 2);
  const PosedClouds posed = canonical_pose(points, normals);
  REQUIRE(posed.points.scalar_type() == at::kDouble);
  // Largest difference over 1,000 seeds: 1.0e-15, but for the determinant, which is compared relative to
  // itself: 4.7e-16 here, and more where it happens to be small.
  const int64_t first = points.norm(2, 1).argmax().item<int64_t>();
  require_close(posed.points[first], at::tensor({1.0, 0.0, 0.0}, at::kDouble), 1e-14, "first row");
  const at::Tensor beside = posed.points.slice(1, 1).norm(2, 1);
  const at::Tensor second = posed.points[beside.argmax().item<int64_t>()];
  CHECK(second[1].item<double>() > 0);
  CHECK(std::abs(second[2].item<double>()) < 1e-14);
  require_close(inner_products(posed.points), inner_products(points), 1e-14, "distances");
  require_close((posed.points * posed.normals).sum(1), (points * normals).sum(1), 1e-13, "angles to normals");
  const auto triple = [](const at::Tensor& rows) { return at::linalg_det(rows.slice(0, 0, 3)); };
  require_close(triple(posed.points), triple(points), 1e-14, "no mirror image");
}

TEST_CASE("canonical_pose: rotated copies are equal in every bit of float32") {
  const at::Tensor points = normalize(normal_rows(500, 3)).points, normals = normal_rows(500, 4);
  const PosedClouds posed = canonical_pose(points, normals);
  // Largest difference over 1,000 clouds of 20 rotations: 1.9e-15 and, of normals that are not unit, 2.4e-15.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor rotation = random_rotation(test::generator(seed), at::kDouble);
    const PosedClouds copy = canonical_pose(rotate(points, rotation), rotate(normals, rotation));
    require_close(copy.points, posed.points, 1e-14, "points");
    require_close(copy.normals, posed.normals, 1e-13, "normals");
    require_equal(copy.points.to(at::kFloat), posed.points.to(at::kFloat), "rounded points");
  }
}

TEST_CASE("canonical_pose: items are turned one by one, empty ones too, from float32 as well") {
  const at::Tensor points = normal_rows(70, 5), ptr = at::tensor({0, 30, 30, 70}, at::kLong);
  const at::Tensor posed = canonical_pose(points, {}, ptr).points;
  CHECK_FALSE(canonical_pose(points, {}, ptr).normals.defined());
  require_equal(posed.slice(0, 0, 30), canonical_pose(points.slice(0, 0, 30)).points, "first item");
  require_equal(posed.slice(0, 30), canonical_pose(points.slice(0, 30)).points, "last item");
  const at::Tensor rounded = points.to(at::kFloat);
  require_equal(canonical_pose(rounded).points, canonical_pose(rounded.to(at::kDouble)).points, "float32");
  CHECK(canonical_pose(points.slice(0, 0, 0)).points.sizes() == at::IntArrayRef{0, 3});
  CHECK(canonical_pose(points.slice(0, 0, 0), {}, at::zeros({1}, at::kLong)).points.size(0) == 0);
}

TEST_CASE("canonical_pose: rows that leave axes open keep their distances") {
  const at::Tensor line = at::arange(7, at::kDouble).unsqueeze(1) * at::tensor({0.3, -0.2, 0.6}, at::kDouble);
  const at::Tensor posed = canonical_pose(line).points;
  // Measured: 2.0e-16 and 0 of the line, 2.2e-16 of the square.
  require_close(inner_products(posed), inner_products(line), 1e-13, "collinear rows");
  require_close(posed.slice(1, 1), at::zeros({7, 2}, at::kDouble), 1e-13, "along x");
  const at::Tensor equal = at::full({5, 3}, 0.1, at::kDouble);
  require_equal(canonical_pose(equal).points, equal, "equal rows");
  const at::Tensor square = at::tensor({1, 1, 0, -1, 1, 0, -1, -1, 0, 1, -1, 0}, at::kDouble).view({4, 3});
  require_close(inner_products(canonical_pose(square).points), inner_products(square), 1e-14, "a square");
}

TEST_CASE("canonical_pose: rotated copies of a symmetric cloud have the same rows along the axes") {
  const at::Tensor corners =
      at::tensor({1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1, -1}, at::kDouble)
          .view({8, 3});
  const at::Tensor posed = canonical_pose(corners).points;
  // Largest difference over 20,000 rotations: 1.2e-15.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor rotation = random_rotation(test::generator(seed), at::kDouble);
    require_close(canonical_pose(rotate(corners, rotation)).points, posed, 1e-14, "corners of a cube");
  }
}

TEST_CASE("canonical_pose: bad arguments are refused by name") {
  const at::Tensor points = normal_rows(4, 6);
  require_error([&] { canonical_pose(points[0]); }, {"points", "[3]"});
  require_error([&] { canonical_pose(points / 0); }, {"points", "finite"});
  require_error([&] { canonical_pose(points, points.slice(0, 1)); }, {"normals", "[4, 3]", "[3, 3]"});
  require_error([&] { canonical_pose(points, {}, at::tensor({0, 3}, at::kLong)); }, {"ptr", "4"});
}

}  // namespace geosft::test::test_canonical_pose
