// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cloud_transforms.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_cloud_transforms {

namespace {

Shape example(bool normals = true) {
  Shape shape;
  shape.points = at::randn({300, 3}, test::generator(1)) + 5;
  if (normals) {
    shape.normals = at::randn({300, 3}, test::generator(2));
    shape.normals = shape.normals / shape.normals.norm(2, 1, true);
  }
  shape.parts = at::arange(300, at::kLong);
  shape.label = 2;
  shape.name = "example";
  return shape;
}

Shape transformed(const ShapeTransform& transform, uint64_t seed = 1, const Shape& shape = example()) {
  at::Generator generator = test::generator(seed);
  return transform(shape, generator);
}

double largest_radius(const Shape& shape) {
  return shape.points.norm(2, 1).max().item<double>();
}

}  // namespace

TEST_CASE("rotations are known by name") {
  for (const Rotation rotation : {Rotation::none, Rotation::z, Rotation::so3}) {
    CHECK(rotation_of(rotation_name(rotation)) == rotation);
  }
  CHECK(std::string(rotation_text(Rotation::so3)) == "rotated at random");
  test::require_error([] { rotation_of("SO3"); }, {"SO3", "none", "so3"});
}

TEST_CASE("training clouds follow from their generator alone") {
  const ShapeTransform transform = augmentation({.points = 64}, {0.5, 2.0, 0.02, 0.1, "so3", 0.25});
  const Shape first = transformed(transform, 1);
  test::require_equal(transformed(transform, 1).points, first.points, "points");
  test::require_equal(transformed(transform, 1).normals, first.normals, "normals");
  CHECK_FALSE(at::equal(transformed(transform, 2).points, first.points));
  CHECK(first.points.size(0) == 48);
  CHECK(first.parts.size(0) == 48);
  CHECK(first.points.scalar_type() == at::kFloat);
}

TEST_CASE("training clouds are scaled within the range") {
  const ShapeTransform transform = augmentation({.points = 64}, {.scale_low = 0.5, .scale_high = 2.0});
  double low = 10, high = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const double radius = largest_radius(transformed(transform, seed));
    low = std::min(low, radius);
    high = std::max(high, radius);
  }
  CHECK(low >= Approx(0.5));
  CHECK(high <= Approx(2.0));
  CHECK(high > low + 0.5);
}

TEST_CASE("a subset keeps points, normals and parts together") {
  Shape shape = example();
  keep_subset(shape, 20, test::generator(4));
  const Shape whole = example();
  REQUIRE(shape.parts.size(0) == 20);
  test::require_equal(shape.points, whole.points.index_select(0, shape.parts), "points");
  test::require_equal(shape.normals, whole.normals.index_select(0, shape.parts), "normals");
  keep_subset(shape, 30, test::generator(4));
  CHECK(shape.points.size(0) == 20);
}

TEST_CASE("normals are left out, demanded, or estimated") {
  Shape bare = example(false), full = example();
  test::require_error([&] { prepare_normals(bare, true); }, {"example", "normals", "--no-normals"});
  prepare_normals(full, false);
  CHECK_FALSE(full.normals.defined());
  std::vector<std::string> remarks;
  estimate_missing_normals(bare, remarks);
  CHECK(bare.normals.sizes() == bare.points.sizes());
  CHECK(remarks == std::vector<std::string>{"example: has no normals: they are estimated"});
  estimate_missing_normals(bare, remarks);
  CHECK(remarks.size() == 1);
}

TEST_CASE("clouds are rotated as they are told") {
  for (const Rotation rotation : {Rotation::none, Rotation::z, Rotation::so3}) {
    Shape shape = example();
    set_precision(shape, at::kDouble);
    const at::Tensor before = shape.points, normals = shape.normals;
    rotate_shape(shape, rotation, test::generator(6));
    CHECK(at::equal(shape.points, before) == (rotation == Rotation::none));
    test::require_close((shape.points * shape.normals).sum(1), (before * normals).sum(1), 1e-12, "angles");
    CHECK(at::equal(shape.points.select(1, 2), before.select(1, 2)) == (rotation != Rotation::so3));
  }
}

TEST_CASE("a batch on a device keeps ptr and rows where they are") {
  const PointBatch batch{at::ones({2, 3}),
                         {},
                         at::tensor({0, 2}, at::kLong),
                         at::tensor({1}, at::kLong),
                         at::tensor({5}, at::kLong),
                         at::tensor({3, 4}, at::kLong)};
  const PointBatch there = on_device(batch, at::kCPU);
  test::require_equal(there.parts, batch.parts, "parts");
  CHECK_FALSE(there.normals.defined());
  CHECK(there.index.is_same(batch.index));
  const auto named = batch_tensors(batch);
  CHECK(named.size() == 5);
  CHECK(named.at("parts").is_same(batch.parts));
  CHECK(batch_tensors(std::nullopt).empty());
}

}  // namespace geosft::test::test_cloud_transforms
