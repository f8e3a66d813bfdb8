// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_stl {

namespace {

std::string binary_stl(const std::string& title, uint32_t count, const std::vector<float>& triangle) {
  std::string bytes = title + std::string(80 - title.size(), ' ') + test::raw(count);
  for (int i = 0; i < 3; ++i) bytes += test::raw(0.0f);
  for (const float value : triangle) bytes += test::raw(value);
  return bytes + std::string(2, '\0');
}

const std::vector<float> triangle = {0, 0, 0, 1, 0, 0, 0, 2, 0};
const std::string text_stl =
    "solid a name\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\nendloop\nendfacet\n";

void check_triangle(const FileShape& shape) {
  test::require_equal(shape.mesh.vertices, at::tensor({0, 0, 0, 1, 0, 0, 0, 2, 0}).view({3, 3}).to(at::kDouble),
                      "vertices");
  test::require_equal(shape.mesh.faces, at::tensor({0, 1, 2}, at::kLong).view({1, 3}), "faces");
}

}  // namespace

TEST_CASE("STL: binary, binary that begins with solid, and text") {
  check_triangle(read_stl(binary_stl("title", 1, triangle), "a.stl"));
  check_triangle(read_stl(binary_stl("solid title", 1, triangle), "a.stl"));
  check_triangle(read_stl(text_stl + "endsolid a name\n", "a.stl"));
}

TEST_CASE("STL: keywords in any case and place, trailing bytes, facets without area") {
  check_triangle(
      read_stl("\xEF\xBB\xBF\n SOLID A\nFACET NORMAL nan 0 1\nOUTER LOOP\nVERTEX 0 0 0\nVertex 1 0 0\nvertex 0 2 "
               "0\nEND LOOP\nEND FACET\nEND SOLID A\n",
               "a.stl"));
  check_triangle(
      read_stl("solid a\r\n facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 2 0 endloop endfacet\r\n"
               "endsolid\r\n",
               "a.stl"));
  check_triangle(read_stl(text_stl + "endsolid\nsolid b\nendsolid b\n" + std::string(7, '\0'), "a.stl"));
  check_triangle(read_stl(text_stl + "endsolid\nWritten by a program\nsolid b\nendsolid b\nmore\n", "a.stl"));
  check_triangle(read_stl(binary_stl("title\1", 1, triangle) + "more", "a.stl"));
  const FileShape shape = read_stl(text_stl + "facet\nvertex 0 0 0\nvertex nan 0 0\nendfacet\nendsolid\n", "a.stl");
  CHECK(shape.mesh.faces.size(0) == 1);
  REQUIRE(shape.warnings.size() == 2);
  CHECK(shape.warnings[0] == "1 faces of fewer than 3 corners are ignored");
}

TEST_CASE("STL: broken files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_stl(bytes, "a.stl"); }, words);
  };
  fails("", {"a.stl", "0 bytes"});
  fails("short", {"a.stl", "5 bytes"});
  fails(binary_stl("title\1", 2, triangle), {"184 bytes for 2 facets", "134"});
  fails(binary_stl("title\1", 4000000000u, triangle), {"4000000000 facets", "134"});
  fails(std::string(80, ' ') + test::raw(0u), {"at least one point"});
  std::vector<float> with_nan = triangle;
  with_nan[4] = std::numeric_limits<float>::quiet_NaN();
  fails(binary_stl("title", 1, with_nan), {"finite coordinates", "point 2"});
  fails("<a page of text that is longer than a header of binary STL, which has 84 bytes, to the end>", {"other text"});
  fails(text_stl, {"endsolid", "the end of the file"});
  fails("solid\nfacet\nvertex 0 0\n", {"a.stl:3", "a coordinate"});
  fails("solid\nhello\n", {"a.stl:2", "a keyword of STL", "hello"});
  fails(text_stl + "endsolid\nsolid\nhello\n", {"a keyword of STL", "hello"});
  fails("solid\nendsolid\n", {"at least one point"});
}

}  // namespace geosft::test::test_stl
