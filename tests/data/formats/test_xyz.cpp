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

TEST_CASE("XYZ: semicolons, decimal commas, header lines, counts, byte-order marks") {
  const at::Tensor expected = at::tensor({1.0, 2.0, 3.5, 4.0, 5.0, 6.0}, at::kDouble).view({2, 3});
  for (const std::string text : {"1;2;3.5\n4;5;6\n", "1;2;3,5\r\n4,0;5;6\r\n", "x y z\n1 2 3.5\n4 5 6\n",
                                 "//X,Y,Z\n1,2,3.5,\n4,5,6,\n", "2\n1 2 3.5\n4 5 6\n", "1\n1 2 3.5\n1\n4 5 6\n",
                                 "\xEF\xBB\xBF"
                                 "1 2 3.5\r4 5 6\r",
                                 "a scan\nof 2024\n\n1 2 3.5\n4 5 6\n", "1 2 3.5 # first\n4 5 6#second\n",
                                 "Z;X;Y\n3.5;1;2\n6;4;5\n", ",\"y\",\"x\",z,name\n0,2,1,3.5,\"a, b\"\n1,5,4,6,\n",
                                 "# x y z class\n1 2 3.5 car\n4 5 6 nan\n", "1 2 3.5 -1.#IND\n4 5 6 7\n"}) {
    CAPTURE(text);
    const FileShape shape = read_xyz(text, "a.csv");
    test::require_equal(shape.mesh.vertices, expected, "points");
    CHECK_FALSE(shape.normals.defined());
  }
}

TEST_CASE("XYZ: normals by name or by value, colours, the seven columns of ShapeNetPart") {
  const at::Tensor normals = at::tensor({0, 0, 1, 0, 1, 0}).view({2, 3}).to(at::kFloat);
  for (const std::string text :
       {"1 2 3 0 0 1 7.000000\n4 5 6 0 1 0 9.000000\n", "1 2 3 0 0 1 20 30 40\n4 5 6 0 1 0 1 2 3\n",
        "x,y,z,r,g,b,nx,ny,nz\n1,2,3,255,0,0,0,0,2\n4,5,6,0,0,0,0,1,0\n",
        "normal_x Normal_Y normal_z X Y Z\n0 0 1 1 2 3\n0 1 0 4 5 6\n"}) {
    CAPTURE(text);
    const FileShape shape = read_xyz(text, "a.txt");
    test::require_equal(shape.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
    REQUIRE(shape.normals.defined());
    test::require_equal(shape.normals, normals, "normals");
  }
  for (const std::string text :
       {"1 2 3 0 0 1 7\n4 5 6 0 1 1 9\n", "1 2 3 0 0 0 7\n4 5 6 0 0 0 9\n", "1 2 3 4\n4 5 6 7\n",
        "1 2 3 a b c d\n4 5 6 0 0 1 d\n", "1 2 3 255 0 0\n4 5 6 0 0 0\n"}) {
    CAPTURE(text);
    CHECK_FALSE(read_xyz(text, "a.txt").normals.defined());
  }
  CHECK(read_xyz("1 2 3 255 0 0\n4 5 6 0 0 0\n", "a.txt").warnings.size() == 1);
}

TEST_CASE("XYZ: broken files") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_xyz(text, "a.xyz"); }, words);
  };
  fails("", {"a.xyz", "at least one point"});
  fails("1 2\n", {"a.xyz:1", "3 columns or more", "2"});
  fails("1 x 3\n", {"a.xyz:1", "a coordinate", "\"x\""});
  fails("x,y,z\n1,,3\n", {"a.xyz", "a coordinate"});
  fails("x y z w\n1 2 3 4\n5 6 7\n", {"a.xyz:3", "4 columns as above", "3"});
  fails("z y x\n1 2 3 4\n", {"a.xyz:2", "3 columns, as many as names", "4"});
  fails("3\n1 2 3\n4 5 6\n", {"3 points", "2"});
  fails("1 2 3 0 0 nan\n", {"finite normals"});
  fails("ncols 4\nnrows 2\n1 2 3 4\n", {"an Esri grid"});
  fails("3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n", {"a.xyz:2", "a coordinate", "\"water\""});
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
