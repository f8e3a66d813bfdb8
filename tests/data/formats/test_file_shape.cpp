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
  const FileShape shape = builder.finish(true);
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
  const Mesh mesh = builder.finish(true).mesh;
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
  const FileShape shape = builder.finish(false);
  CHECK_FALSE(shape.is_mesh());
  test::require_close(shape.normals, at::tensor({0.0, 0.6, 0.8, 0.0, 0.0, 0.0}).view({2, 3}).to(at::kFloat), 1e-7,
                      "normals");
}

TEST_CASE("the builder refuses what is no shape") {
  test::require_error([] { FileShapeBuilder("a.obj", "line").finish(false); }, {"a.obj", "at least one point"});
  test::require_error([] { square().finish(true); }, {"square.obj", "at least one face"});
  test::require_error([] { square().add_polygon({0, 1}, 7); }, {"at least 3 corners", "2 in line 7"});
  for (const int64_t corner : {-1, 4}) {
    FileShapeBuilder builder = square();
    builder.add_polygon({0, 1, corner}, 9);
    test::require_error([&] { builder.finish(true); }, {"4 vertices", std::to_string(corner), "line 9"});
  }
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    FileShapeBuilder builder = square();
    builder.add_vertex(0, bad, 0);
    test::require_error([&] { builder.finish(false); }, {"finite coordinates", "point 5"});
  }
  FileShapeBuilder builder = square();
  builder.add_normal(0, 0, 1);
  test::require_error([&] { builder.finish(false); }, {"1 normals of 4 points"});
}

}  // namespace geosft::test::test_file_shape
