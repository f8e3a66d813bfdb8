// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape.h"

#include <catch2/catch.hpp>
#include <limits>

#include "data/formats/shape_file.h"
#include "tests/data/points/utm_chair.h"
#include "tests/support.h"

namespace geosft::test::test_shape {

TEST_CASE("coordinates far from the origin keep their digits, relative to an offset") {
  const at::Tensor chair = utm_chair(90);
  REQUIRE(std::get<0>(at::unique_dim(chair.to(at::kFloat).slice(1, 0, 2), 0)).size(0) < 40);  // what a cast leaves
  for (const std::string format : {"ply", "xyz", "pcd"}) {
    CAPTURE(format);
    const FileShape content = parse_shape(double_cloud_text(format, chair), "chair." + format);
    require_equal(content.mesh.vertices, chair, "coordinates");
    CHECK(content.precision == at::kDouble);
    const Shape shape = to_cloud(content, 1, 0, "chair");
    CHECK(shape.points.scalar_type() == at::kFloat);
    REQUIRE(shape.offset.scalar_type() == at::kDouble);
    require_equal(shape.points, (chair - shape.offset).to(at::kFloat), "points");
    CHECK(shape.points.abs().max().item<double>() <= 2);
    require_close(file_coordinates(shape), chair, 1e-7, "coordinates in the file");
  }
}

TEST_CASE("points are sampled from a mesh far from the origin as from one near it") {
  const auto sample = [](const at::Tensor& points) {
    return to_cloud(parse_shape(double_cloud_text("obj", points), "chair.obj"), 200, 5, "chair.obj");
  };
  const Shape near = sample(chair_at_origin(90)), far = sample(utm_chair(90));
  CHECK_FALSE(near.offset.defined());
  require_close(file_coordinates(far), near.points.to(at::kDouble) + utm_offset(), 2e-7, "points");
  require_close(far.normals, near.normals, 1e-5, "normals");
}

TEST_CASE("clouds that a float32 holds, or that are near the origin, have no offset") {
  const at::Tensor chair = chair_points(30);
  CHECK_FALSE(offset_from_origin(chair).defined());
  CHECK_FALSE(offset_from_origin(chair + 0.1).defined());
  CHECK(offset_from_origin(chair + 10).defined());
  CHECK_FALSE(offset_from_origin((chair * 64).round() + 694386.0).defined());
  CHECK_FALSE(offset_from_origin(at::full({2, 3}, 0.25, at::kDouble)).defined());
  const at::Tensor single = at::full({1, 3}, 0.1, at::kDouble);
  require_equal(offset_from_origin(single), single[0], "a single point");
  Shape shape;
  set_points(shape, chair);
  require_equal(shape.points, chair.to(at::kFloat), "points");
  require_equal(file_coordinates(shape), shape.points, "coordinates");
  shape.scale = 2.0;
  require_equal(file_coordinates(shape), 2 * shape.points.to(at::kDouble), "scaled coordinates");
}

TEST_CASE("the offsets of several clouds are those of each") {
  const at::Tensor chair = chair_points(30), single = at::full({30, 3}, 0.1, at::kDouble);
  at::Tensor broken = utm_chair(30).clone();
  broken[4][1] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<at::Tensor> clouds = {chair, utm_chair(30), single, 1e6 * chair, broken};
  const at::Tensor offsets = offsets_from_origin(at::stack(clouds));
  CHECK(offsets.sizes() == at::IntArrayRef({5, 3}));
  require_equal(offsets[1], offset_from_origin(utm_chair(30)), "far away");
  require_equal(offsets[2], single[0], "equal points");
  for (const int64_t none : {0, 3, 4}) require_equal(offsets[none], at::zeros({3}, at::kDouble), "no offset");
}

TEST_CASE("the offset is exact for coordinates of a few digits") {
  for (const double extent : {1e-6, 0.3, 1.0, 700.0, 3e9}) {
    CAPTURE(extent);
    const at::Tensor grid = (chair_points(60) * 1024).round() * (extent / 1024) + 5155487.0 * extent;
    const at::Tensor rows = grid.to(at::kFloat).to(at::kDouble);
    const at::Tensor offset = offset_from_origin(at::cat({rows, rows.slice(0, 0, 1) + 1e-9 * extent}));
    REQUIRE(offset.defined());
    const at::Tensor moved = rows - offset;
    require_equal(moved.to(at::kFloat).to(at::kDouble), moved, "moved");
  }
}

TEST_CASE("missing normals are estimated, with the signs of the others") {
  // A sphere, whose normals point inwards.
  const at::Tensor places = at::randn({300, 3}, generator(2), at::kDouble);
  const at::Tensor directions = places / places.norm(2, 1, true);
  Shape shape;
  shape.points = directions.to(at::kFloat);
  shape.normals = -shape.points;
  CHECK(fill_missing_normals(shape) == 0);
  const at::Tensor expected = shape.normals.clone();
  shape.normals.slice(0, 10, 40).zero_();
  CHECK(fill_missing_normals(shape) == 30);
  CHECK((shape.normals * expected).sum(1).min().item<double>() > 0.9);
  require_equal(shape.normals.slice(0, 40, 300), expected.slice(0, 40, 300), "the others");
  CHECK_THAT(missing_normals_text(shape, 30), Catch::Contains("30 of its 300 points have no normals"));
  Shape bare{shape.points, {}, -1, ""};
  CHECK(fill_missing_normals(bare) == 0);
  CHECK_FALSE(bare.normals.defined());
}

TEST_CASE("the precision of a file is what it declares, or what its coordinates need") {
  const std::string row = "0.5 0.25 1\n";
  const auto ply = [&](const std::string& type) {
    return "ply\nformat ascii 1.0\nelement vertex 1\nproperty " + type + " x\nproperty " + type + " y\nproperty " +
           type + " z\nend_header\n" + row;
  };
  CHECK(parse_shape(ply("double"), "a.ply").precision == at::kDouble);
  CHECK(parse_shape(ply("float"), "a.ply").precision == at::kFloat);
  CHECK(parse_shape(row, "a.xyz").precision == at::kFloat);
  CHECK(parse_shape("5155487.01 1 2\n5155487.02 1 2\n", "a.xyz").precision == at::kDouble);
}

}  // namespace geosft::test::test_shape
