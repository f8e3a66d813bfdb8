// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_xyz {

TEST_CASE("XYZ: blanks or commas, with normals or without") {
  const FileShape plain = read_xyz("# points\n1 2 3\n\n4\t5 6\n", "a.xyz");
  test::require_equal(plain.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
  CHECK_FALSE(plain.is_mesh());
  CHECK_FALSE(plain.normals.defined());
  const FileShape normals = read_xyz("1,2,3,0,0,2\n4, 5, 6, 0, 1, 0\n", "a.txt");
  test::require_equal(normals.mesh.vertices, plain.mesh.vertices, "points");
  test::require_equal(normals.normals, at::tensor({0, 0, 1, 0, 1, 0}).view({2, 3}).to(at::kFloat), "normals");
  CHECK(read_xyz("1 2 3", "one.xyz").mesh.vertices.size(0) == 1);
}

TEST_CASE("XYZ: broken files") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_xyz(text, "a.xyz"); }, words);
  };
  fails("", {"a.xyz", "at least one point"});
  fails("1 2\n", {"a.xyz:1", "3 or 6 columns", "2"});
  fails("1 2 3 4\n", {"a.xyz:1", "3 or 6 columns", "4"});
  fails("1 2 3 4 5 6 7 8\n", {"a.xyz:1", "more than 6"});
  fails("1 2 3\n1 2 3 0 0 1\n", {"a.xyz:2", "3 columns as above", "6"});
  fails("1 2 3\n1 2\n", {"a.xyz:2", "3 columns as above", "2"});
  fails("1 2 nan\n", {"a.xyz:1", "finite", "nan"});
  fails("x y z\n", {"a.xyz:1", "a coordinate", "\"x\""});
}

TEST_CASE("XYZ: a cloud of many points") {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "0.25 0.5 " + std::to_string(i) + "\n";
  const FileShape shape = read_xyz(text, "many.xyz");
  CHECK(shape.mesh.vertices.size(0) == 300000);
  CHECK(shape.mesh.vertices[299999][2].item<double>() == 299999.0);
}

}  // namespace geosft::test::test_xyz
