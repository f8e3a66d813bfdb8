// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_xyz {

TEST_CASE("XYZ: blanks or commas, with normals or without") {
  const FileShape plain = read_xyz("# points\n1 2 3\n\n4\t5 6\n", "a.xyz");
  test::require_equal(plain.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
  CHECK_FALSE(plain.is_mesh());
  CHECK_FALSE(plain.normals.defined());
  const FileShape normals = read_xyz("1,2,3,0,0,1\n4, 5, 6, 0, 1, 0\n", "a.txt");
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
  CHECK(read_xyz("1 2 3 0 0 1 7\n4 5 6 0 1 1 9\n", "a.txt").warnings.size() == 1);
}

TEST_CASE("XYZ: six columns are normals if they have length 1, colours if they have the range of those") {
  for (const std::string colours : {"1 2 3 255 128 0\n4 5 6 0 0 12\n", "1 2 3 0.5 0.25 1\n4 5 6 1 1 1\n",
                                    "1 2 3 65535 0 300\n4 5 6 0 0 0\n", "1 2 3 0 0 2\n4 5 6 0 1 0\n"}) {
    CAPTURE(colours);
    const FileShape shape = read_xyz(colours, "a.xyz");
    CHECK_FALSE(shape.normals.defined());
    REQUIRE(shape.warnings.size() == 1);
    CHECK_THAT(shape.warnings[0], Catch::Contains("taken as colours"));
  }
  for (const std::string normals :
       {"1 2 3 0.58 0.58 0.58\n4 5 6 0 -1 0\n", "1 2 3 1 0 0\n4 5 6 0 0 0\n", "1 2 3 0 0 nan\n4 5 6 0.6 0 -0.8\n"}) {
    CAPTURE(normals);
    CHECK(read_xyz(normals, "a.xyz").normals.defined());
  }
  CHECK_FALSE(read_xyz("1 2 3 0 0 0\n4 5 6 0 0 0\n", "a.xyz").normals.defined());
  for (const std::string neither : {"1 2 3 0 0 1\n4 5 6 0 -2 0\n", "1 2 3 0 0 1\n4 5 6 0 300.5 0\n"}) {
    CAPTURE(neither);
    test::require_error([&] { read_xyz(neither, "a.xyz"); },
                        {"a.xyz", "--columns x,y,z,nx,ny,nz", "--columns x,y,z,r,g,b", "point 2"});
  }
}

TEST_CASE("XYZ: an index before the coordinates is read as x, with a warning") {
  const auto warnings = [](int first, const std::string& rest, const std::string& columns = {}, int step = 1) {
    std::string text;
    for (int row = 0; row < 17; ++row) text += std::to_string(first + row * step) + rest;
    return read_xyz(text, "a.txt", columns).warnings;
  };
  for (const int first : {0, 1, 7}) {
    REQUIRE(warnings(first, " 0.5 0.25 1.5\n").size() == 1);
    CHECK_THAT(warnings(first, " 0.5 0.25 1.5\n")[0],
               Catch::Contains("column 1 counts the rows") && Catch::EndsWith("--columns i,x,y,z"));
  }
  CHECK_THAT(warnings(0, " 0.5 0.25 1.5 0 0 1\n").at(0), Catch::EndsWith("--columns i,x,y,z,nx,ny,nz"));
  CHECK(warnings(0, " 0.5 0.25\n").empty());                 // x, y and z alone
  CHECK(warnings(0, " 0.5 0.25 1.5\n", "i,x,y,z").empty());  // said
  CHECK(warnings(0, " 0.5 0.25 1.5\n", "", 2).empty());      // no index
}

TEST_CASE("XYZ: normals that are whole numbers up to 255 are told, for they may be colours") {
  const auto warnings = [](const std::string& text) { return read_xyz(text, "a.txt", "x,y,z,nx,ny,nz").warnings; };
  REQUIRE(warnings("0 0 0 255 0 7\n1 0 0 9 200 0\n").size() == 1);
  CHECK_THAT(warnings("0 0 0 255 0 7\n1 0 0 9 200 0\n")[0],
             Catch::Contains("its normals are whole numbers from 0 to 255") && Catch::Contains("--columns"));
  CHECK(warnings("0 0 0 1 0 0\n1 0 0 0 1 0\n").empty());
  CHECK(warnings("0 0 0 255 0 7\n1 0 0 -9 200 0\n").empty());
  CHECK(warnings("0 0 0 255 0 7.5\n1 0 0 9 200 0\n").empty());
}

TEST_CASE("XYZ: points that the header does not announce are read, with a warning") {
  CHECK_THAT(read_xyz("1\n1 2 3\n4 5 6\n", "a.pts").warnings.at(0), Catch::Contains("1 point more than its header"));
  CHECK_THAT(read_xyz("1\n1 2 3\n4 5 6\n1\n1 2 3\n7 8 9\n", "a.pts").warnings.at(0), Catch::Contains("2 points more"));
  CHECK(read_xyz("2\n1 2 3\n4 5 6\n", "a.pts").warnings.empty());
}

TEST_CASE("XYZ: names with units and blanks between commas") {
  const at::Tensor points = at::arange(1, 7).view({2, 3}).to(at::kDouble);
  for (const std::string head :
       {"id,x [mm],y [mm],z [mm]", "\"id\",\"X (m)\",\"Y (m)\",\"Z (m)\"", "# id, x [m], y [m], z [m]"}) {
    CAPTURE(head);
    test::require_equal(read_xyz(head + "\n9,1,2,3\n9,4,5,6\n", "a.csv").mesh.vertices, points, "points");
  }
}

TEST_CASE("XYZ: columns that are said") {
  const at::Tensor points = at::arange(1, 7).view({2, 3}).to(at::kDouble);
  const at::Tensor normals = at::tensor({0, 0, 1, 0, -1, 0}).view({2, 3}).to(at::kFloat);
  const auto read = [](const std::string& text, const std::string& columns) {
    return read_xyz(text, "a.xyz", columns);
  };
  const FileShape scaled = read("1 2 3 0 0 3\n4 5 6 0 -2 0\n", "x,y,z,nx,ny,nz");
  test::require_equal(scaled.normals, normals, "normals");
  CHECK(scaled.warnings.empty());
  CHECK_FALSE(read("1 2 3 0 0 1\n4 5 6 0 1 0\n", "x, y, z, r, g, b").normals.defined());
  const FileShape moved = read("7;0;0;1;1;2;3\n8;0;-1;0;4;5;6\n", "class,nx,ny,nz,x,y,z");
  test::require_equal(moved.mesh.vertices, points, "points");
  test::require_equal(moved.normals, normals, "normals");
  test::require_equal(read("a b c\n3 2 1\n6 5 4\n", "z,y,x").mesh.vertices, points, "points");
  test::require_error([&] { read("1 2 3\n", "x,y,z,r,g,b"); }, {"a.xyz:1", "6 columns, as many as --columns", "3"});
  test::require_error([&] { read("1 2 3\n", "x,y"); }, {"--columns", "x, y and z", "x,y"});
}

TEST_CASE("XYZ: more than three columns whose names say no coordinates are an error, not the first three") {
  const auto rows = [](const std::string& head) { return head + "\n9,1,2,3\n9,4,5,6\n"; };
  for (const std::string head : {"id,lon,lat,height", "\"class\",\"a\",\"b\",\"c\""}) {
    test::require_error([&] { read_xyz(rows(head), "a.csv"); }, {"a.csv", "x, y and z", "--columns", head});
  }
  const at::Tensor points = at::arange(1, 7).view({2, 3}).to(at::kDouble);
  test::require_equal(read_xyz(rows("id,lon,lat,height"), "a.csv", "i,x,y,z").mesh.vertices, points, "said");
  test::require_equal(read_xyz(rows("\"id\",\"Points:0\",\"Points:1\",\"Points:2\""), "a.csv").mesh.vertices, points,
                      "ParaView");
  CHECK(read_xyz("lon,lat,height\n1,2,3\n", "a.csv").mesh.vertices.size(0) == 1);
  CHECK(read_xyz("made by a scanner\n1 2 3 4\n", "a.xyz").mesh.vertices.size(0) == 1);
}

TEST_CASE("XYZ: decimal commas between blanks are an error, not two columns") {
  for (const std::string text : {"1,5 2,5 3,5\n", "1,5\t2\t3\n", "-0,5 2 3\n", "1 2 3 0 0 1\n1,5 2,5 3,5\n"}) {
    CAPTURE(text);
    test::require_error([&] { read_xyz(text, "a.xyz"); }, {"a.xyz:", "decimal points", "5"});
  }
  for (const std::string text : {"1,2,3\n", "1, 2, 3\n", "1.5,2.5, 3.5\n", "1,2,3 # a, b\n"}) {
    CAPTURE(text);
    CHECK(read_xyz(text, "a.xyz").mesh.vertices.size(0) == 1);
  }
}

TEST_CASE("XYZ: labels under a name of the file or of the option") {
  const at::Tensor expected = at::tensor({2.0, -1.0}, at::kDouble);
  for (const std::string head : {"x y z r label\n", "//X Y Z R Label\n", "# x y z r scalar_Part\n"}) {
    const FileShape shape = read_xyz(head + "0 0 0 9 2.000000\n1 0 0 9 -1\n", "a.txt");
    test::require_equal(shape.labels, expected, "labels");
    CHECK(shape.names.size() == 5);
  }
  const std::string plain = "0 0 0 2\n1 0 0 -1\n";
  CHECK_FALSE(read_xyz(plain, "a.txt").labels.defined());
  CHECK(read_xyz(plain, "a.txt").names.empty());
  test::require_equal(read_xyz(plain, "a.txt", "x,y,z,label").labels, expected, "labels");
  CHECK(read_xyz("x,y,z,label\n0,0,0,leg\n", "a.csv").labels.isinf().all().item<bool>());
  CHECK(read_xyz("x,y,z,label\n0,0,0,\n1,0,0,nan\n", "a.csv").labels.isnan().all().item<bool>());
}

TEST_CASE("XYZ: broken files") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_xyz(text, "a.xyz").require_finite(); }, words);
  };
  fails("", {"a.xyz", "at least one point"});
  fails("1 2\n", {"a.xyz:1", "3 columns or more", "2"});
  fails("1 x 3\n", {"a.xyz:1", "a coordinate", "\"x\""});
  fails("x,y,z\n1,,3\n", {"a.xyz", "a coordinate"});
  fails("x y z w\n1 2 3 4\n5 6 7\n", {"a.xyz:3", "4 columns as above", "3"});
  fails("z y x\n1 2 3 4\n", {"a.xyz:2", "3 columns, as many as names", "4"});
  fails("3\n1 2 3\n4 5 6\n", {"3 points", "2"});
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
