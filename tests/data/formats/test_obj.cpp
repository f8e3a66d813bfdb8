// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "data/read_file.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_obj {

TEST_CASE("OBJ: every form of a corner, negative numbers, polygons, continued lines") {
  const std::string vertices = "mtllib a.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 \\\n 1 0\nvt 0 0\nvn 0 0 1\ng a b\n";
  const at::Tensor expected = at::tensor({0, 1, 2, 0, 2, 3}, at::kLong).view({2, 3});
  for (const std::string face : {"f 1 2 3 4", "f 1/1 2/1 3/1 4/1", "f 1//1 2//1 3//1 4//1", "f 1/1/1 2/1/1 3/1/1 4/1/1",
                                 "f -4 -3 -2 -1", "f 1 2 \\\n3 4 # a square", "f 1 2 3\nf 1 2\nf 1 3 4\r"}) {
    CAPTURE(face);
    const FileShape shape = read_obj(vertices + face, "a.obj");
    CHECK(shape.mesh.vertices.size(0) == 4);
    test::require_equal(shape.mesh.faces, expected, "faces");
  }
}

TEST_CASE("OBJ: what other programs read is read") {
  const at::Tensor expected = at::tensor({0, 1, 2}, at::kLong).view({1, 3});
  for (const std::string text :
       {"\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", "V 0 0 0\nV 1 0 0\nV 1 1 0\nF 1 2 3\n",
        "  v 0 0 0\n\tv\t1\t0\t0\nv 1 1 0\nfo 1 2 3\n", "v 0\\\n0\\\n0\nv \\\r\n1 0 0\nv 1 1 0\nf 1\\\n2\\\n3",
        "# C:\\shapes\\\nv 0 0 0\nv 1 0 0\nv 1 1 0\ng a \\\nf 9 9 9\nf 1 2 3", "v 0 0 0\rv 1 0 0\rv 1 1 0\rf 1 2 3\r",
        "v 0 0 0 255 0 0\nv 1 0 0 nan\nv 1 1 0\nvt nan\nvn x\nf 1 2 3\nf 1\nf\nf 1 2\np 1\nl 1 2\n"}) {
    CAPTURE(text);
    const FileShape shape = read_obj(text, "a.obj");
    test::require_equal(shape.mesh.vertices, at::tensor({0, 0, 0, 1, 0, 0, 1, 1, 0}).view({3, 3}).to(at::kDouble),
                        "vertices");
    test::require_equal(shape.mesh.faces, expected, "faces");
    CHECK_FALSE(shape.normals.defined());
  }
  CHECK(read_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\nf 1 2\nf 2\n", "a.obj").warnings ==
        std::vector<std::string>{"2 faces of fewer than 3 corners are ignored"});
}

TEST_CASE("OBJ: vertices without faces are a cloud, with normals if there are as many") {
  const FileShape cloud = read_obj("v 0 0 0\nvn 0 0 2\nv 1 2 3\nvn 0 1 0\n", "a.obj");
  CHECK_FALSE(cloud.is_mesh());
  CHECK(cloud.mesh.vertices.size(0) == 2);
  test::require_equal(cloud.normals, at::tensor({0, 0, 1, 0, 1, 0}).view({2, 3}).to(at::kFloat), "normals");
  CHECK_FALSE(read_obj("v 0 0 0\nvn 0 0 2\nv 1 2 3\n", "a.obj").normals.defined());
}

TEST_CASE("OBJ: a vertex of a mesh has the mean direction of the normals of its corners") {
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 1\nv 5 5 5\n", normals = "vn 0 0 2\nvn 0 -3 0\n";
  const float half = std::sqrt(0.5F);
  const at::Tensor expected =
      at::tensor({0.0F, -half, half, 0.0F, -half, half, 0.0F, 0.0F, 1.0F, 0.0F, -1.0F, 0.0F, 0.0F, 0.0F, 0.0F})
          .view({5, 3});
  for (const std::string faces :
       {"f 1//1 2//1 3//1\nf 1//2 2//2 4//2\n", "f 1/9/1 2/9/1 3/9/1\nf 1//-1 2//-1 4//-1\n"}) {
    CAPTURE(faces);
    const FileShape shape = read_obj(vertices + normals + faces, "a.obj");
    CHECK(shape.mesh.faces.size(0) == 2);
    CHECK(shape.warnings.empty());
    test::require_close(shape.normals, expected, 1e-6, "normals");
  }
  const FileShape after = read_obj(vertices + "f 1//1 2//1 3//1\nf 1//2 2//2 4//2\n" + normals, "a.obj");
  test::require_close(after.normals, expected, 1e-6, "normals after the faces");
  // Opposite normals have no mean.
  const FileShape sides = read_obj(vertices + normals + "vn 0 0 -1\nf 1//1 2//1 3//1\nf 3//3 2//3 1//2\n", "a.obj");
  test::require_close(sides.normals.slice(0, 0, 3), at::cat({expected.slice(0, 0, 1), at::zeros({2, 3})}), 1e-6,
                      "sides");
  // Ignores what is no normal.
  for (const std::string face : {"f 1//3 2//0 3//x", "f 1//-9 2// 3/1", "f 1 2 3\nvn 0 0 1"}) {
    CAPTURE(face);
    CHECK_FALSE(read_obj(vertices + normals + face, "a.obj").normals.defined());
  }
  CHECK_FALSE(read_obj(vertices + "vn nan 0 1\nvn 0 0 0\nf 1//1 2//2 3//1", "a.obj").normals.defined());
}

TEST_CASE("OBJ: a vertex in no face may have no number") {
  const FileShape shape = read_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv nan 1 2\nf 1 2 3\n", "a.obj");
  test::require_equal(shape.mesh.vertices[3], at::zeros({3}, at::kDouble), "vertex in no face");
  test::require_error([] { read_obj("v 0 0 0\nv 1 0 0\nv 1 1e999 0\nf 1 2 3\n", "a.obj"); },
                      {"a.obj:3", "finite coordinates", "inf"});
}

TEST_CASE("OBJ: broken files") {
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
  const auto fails = [&](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_obj(text, "a.obj").require_finite(); }, words);
  };
  fails("", {"a.obj", "at least one point"});
  fails(vertices + "f 1 2 4\n", {"a.obj", "3 vertices", "number 4 (counted from 1) in line 4"});
  fails(vertices + "f 1 2 -4\n", {"a.obj:4: expected -3 or above, as 3 vertices come before, found -4"});
  fails("f -1 -2 -3\n" + vertices,
        {"a.obj:1: expected no negative vertex number, as no vertex comes before, found -1"});
  fails(vertices + "f 1 2 0\n", {"a.obj:4", "vertex numbers from 1"});
  fails(vertices + "f 1 2 x\n", {"a.obj:4", "\"x\""});
  fails("v 0 0\n", {"a.obj:1", "a coordinate", "the end of the line"});
  fails("v 0 nan 0\n", {"a.obj:1", "finite", "nan"});
  fails(std::string("\0\1\2\3", 4), {"a.obj"});
}

TEST_CASE("OBJ: a real mesh") {
  const std::filesystem::path folder = test::real_data("shapes");
  if (folder.empty()) return;
  const FileShape shape = read_obj(read_file(folder / "spot_low_resolution.obj"), "spot");
  CHECK(shape.mesh.vertices.size(0) == 829);
  CHECK(shape.mesh.faces.size(0) == 1654);
}

}  // namespace geosft::test::test_obj
