// SPDX-License-Identifier: Apache-2.0
#include "data/formats/obj.h"

#include <catch2/catch.hpp>

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

TEST_CASE("OBJ: broken files") {
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
  const auto fails = [&](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_obj(text, "a.obj"); }, words);
  };
  fails("", {"a.obj", "at least one point"});
  fails(vertices, {"a.obj", "at least one face"});
  fails(vertices + "f 1 2 4\n", {"a.obj", "3 vertices", "line 4"});
  fails(vertices + "f 1 2 -4\n", {"a.obj", "3 vertices", "line 4"});
  fails(vertices + "f 1 2 0\n", {"a.obj:4", "vertex numbers from 1"});
  fails(vertices + "f 1 2 x\n", {"a.obj:4", "\"x\""});
  fails(vertices + "f 1\n", {"at least 3 corners", "line 4"});
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
