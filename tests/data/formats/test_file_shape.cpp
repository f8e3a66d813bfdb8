// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_shape.h"

#include <catch2/catch.hpp>
#include <limits>

#include "geometry/surface_sampling.h"
#include "tests/support.h"

namespace geosft::test::test_file_shape {

namespace {

FileShapeBuilder square() {
  FileShapeBuilder builder("square.obj", "line");
  builder.add_vertex(0, 0, 0);
  builder.add_vertex(1, 0, 0);
  builder.add_vertex(1, 1, 0);
  builder.add_vertex(0, 1, 0);
  return builder;
}

}  // namespace

TEST_CASE("polygons become fans") {
  FileShapeBuilder builder = square();
  builder.add_polygon({3, 0, 1, 2}, 5);
  const FileShape shape = builder.finish();
  CHECK(shape.is_mesh());
  test::require_equal(shape.mesh.faces, at::tensor({3, 0, 1, 3, 1, 2}, at::kLong).view({2, 3}), "fan");
  CHECK(shape.mesh.vertices.scalar_type() == at::kDouble);
  CHECK_FALSE(shape.normals.defined());
}

TEST_CASE("concave polygons are covered once, also before their vertices are known") {
  FileShapeBuilder builder("u.ply", "face");
  builder.add_polygon({2, 3, 4, 5, 6, 7, 0, 1}, 1);
  builder.add_polygon({0, 1, 4, 5}, 2);
  CHECK(builder.triangle_count() == 8);
  for (const auto& [x, y] : {std::pair{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}) {
    builder.add_vertex(x, y, 0);
  }
  const Mesh mesh = builder.finish().mesh;
  CHECK(mesh.faces.size(0) == 8);
  CHECK(surface_area({mesh.vertices, mesh.faces.slice(0, 0, 6)}) == Approx(5.0));
  CHECK(surface_area({mesh.vertices, mesh.faces.slice(0, 6, 8)}) == Approx(2.0));
}

TEST_CASE("normals are scaled to unit length, zeros stay") {
  FileShapeBuilder builder("cloud.xyz", "line");
  builder.add_vertex(0, 0, 0);
  builder.add_normal(0, 3, 4);
  builder.add_vertex(0, 0, 0);
  builder.add_normal(0, 0, 0);
  const FileShape shape = builder.finish();
  CHECK_FALSE(shape.is_mesh());
  test::require_close(shape.normals, at::tensor({0.0, 0.6, 0.8, 0.0, 0.0, 0.0}).view({2, 3}).to(at::kFloat), 1e-7,
                      "normals");
}

TEST_CASE("normals that are not finite are missing, and a cloud without others has none") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FileShapeBuilder builder = square();
  for (const double x : {nan, 2.0, 0.0, nan}) builder.add_normal(x, 0, 0);
  test::require_equal(builder.finish().normals.select(1, 0), at::tensor({0.0F, 1.0F, 0.0F, 0.0F}), "normals");
  for (const double x : {nan, 0.0}) {
    FileShapeBuilder without = square();
    for (int i = 0; i < 4; ++i) without.add_normal(x, 0, 0);
    CHECK_FALSE(without.finish().normals.defined());
  }
}

TEST_CASE("points without finite coordinates are dropped, with their normals and labels and a warning") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FileShapeBuilder builder("scan.pcd", "point");
  for (const double x : {nan, 1.0, 2.0, nan}) {
    builder.add_vertex(x, 0, 0);
    builder.add_normal(0, 0, x);
    builder.add_label(10 * x);
  }
  FileShape shape = builder.finish();
  test::require_error([&] { shape.require_finite(); }, {"scan.pcd", "finite coordinates", "point 1"});
  shape.drop_invalid("scan.pcd");
  shape.require_finite();
  test::require_equal(shape.mesh.vertices.select(1, 0), at::tensor({1.0, 2.0}, at::kDouble), "points");
  CHECK(shape.normals.sizes() == at::IntArrayRef({2, 3}));
  test::require_equal(shape.labels, at::tensor({10.0, 20.0}, at::kDouble), "labels");
  REQUIRE(shape.warnings.size() == 1);
  CHECK_THAT(shape.warnings[0], Catch::StartsWith("2 of its 4 points have no finite coordinates"));
  FileShapeBuilder holes("scan.pcd", "point");
  holes.add_vertex(nan, nan, nan);
  FileShape empty = holes.finish();
  test::require_error([&] { empty.drop_invalid("scan.pcd"); }, {"scan.pcd", "a point with finite coordinates"});
}

TEST_CASE("faces of fewer than 3 corners are left out, and vertices without faces are a cloud") {
  FileShapeBuilder builder = square();
  builder.add_polygon({0, 1}, 7);
  builder.add_polygon({}, 8);
  const FileShape cloud = builder.finish();
  CHECK_FALSE(cloud.is_mesh());
  CHECK(cloud.mesh.vertices.size(0) == 4);
  CHECK(cloud.warnings == std::vector<std::string>{"2 faces of fewer than 3 corners are ignored"});
  CHECK(square().finish().warnings.empty());
}

TEST_CASE("strips become triangles of one orientation") {
  FileShapeBuilder builder = square();
  builder.add_strip({0, 1, 3, 2, 2, -1, 1, 2, 3}, 1);
  test::require_equal(builder.finish().mesh.faces, at::tensor({0, 1, 3, 3, 1, 2, 1, 2, 3}, at::kLong).view({3, 3}),
                      "faces");
  FileShapeBuilder broken = square();
  broken.add_strip({0, 1, 4}, 6);
  test::require_error([&] { broken.finish(); }, {"4 vertices", "number 4", "line 6"});
}

TEST_CASE("vertices that no face uses, and normals of a mesh, may have any numbers") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FileShapeBuilder builder = square();
  builder.add_vertex(nan, 0, 0, 9);
  builder.add_vertex(0, 1e300, 0, 10);
  for (int i = 0; i < 6; ++i) builder.add_normal(nan, 0, 1);
  builder.add_polygon({1, 2, 3}, 1);
  const FileShape shape = builder.finish();
  test::require_equal(shape.mesh.vertices[4], shape.mesh.vertices[1], "vertex in no face");
  test::require_equal(shape.mesh.vertices[5], shape.mesh.vertices[1], "vertex in no face");
  CHECK_FALSE(shape.normals.defined());
  REQUIRE(shape.warnings.size() == 1);
  CHECK_THAT(shape.warnings[0], Catch::StartsWith("2 vertices without finite coordinates"));
  FileShapeBuilder used = square();
  used.add_vertex(nan, 0, 0, 9);
  used.add_polygon({1, 2, 4}, 1);
  test::require_error([&] { used.finish(); }, {"square.obj:9", "finite coordinates", "nan", "point 5"});
}

TEST_CASE("float32 numbers that are coarse far from the origin are a warning") {
  const auto warnings_of = [](const std::vector<double>& northings) {
    FileShapeBuilder builder("a.ply", "point");
    for (const double northing : northings) builder.add_vertex(694386.5, northing, 2);
    return builder.finish().warnings;
  };
  // A step of float32 is 0.5 from 2^22 on.
  const std::vector<std::string> coarse = warnings_of({5155487.0, 5155487.5, 5155488.0});
  REQUIRE(coarse.size() == 1);
  CHECK_THAT(coarse[0],
             Catch::Contains("float32") && Catch::Contains("steps of 0.5") && Catch::Contains("extent of 1"));
  CHECK(warnings_of({5155487.1, 5155487.5, 5155488.0}).empty());  // these are float64
  CHECK(warnings_of({5155487.0, 5155487.5, 5165487.0}).empty());  // fine for their extent
  CHECK(warnings_of({5155487.0, 5155489.0, 5155491.0}).empty());  // whole numbers
  CHECK(warnings_of({0.5, 1.5}).empty());
}

TEST_CASE("the builder refuses what is no shape") {
  test::require_error([] { FileShapeBuilder("a.obj", "line").finish(); }, {"a.obj", "at least one point"});
  for (const int64_t corner : {-1, 4}) {
    FileShapeBuilder builder = square();
    builder.add_polygon({0, 1, corner}, 9);
    test::require_error([&] { builder.finish(); }, {"4 vertices", std::to_string(corner), "line 9"});
  }
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    FileShapeBuilder builder = square();
    builder.add_vertex(0, bad, 0, 12);
    const FileShape shape = builder.finish();
    test::require_error([&] { shape.require_finite(" (or not)"); },
                        {"square.obj", "finite coordinates (or not)", "point 5"});
  }
  FileShapeBuilder builder = square();
  builder.add_normal(0, 0, 1);
  test::require_error([&] { builder.finish(); }, {"1 normals of 4 points"});
}

}  // namespace geosft::test::test_file_shape
