// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <bit>
#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "data/read_file.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_pcd {

namespace {

std::string head(const std::string& data) {
  return "VERSION 0.7\nFIELDS x y z rgb normal_x normal_y normal_z\nSIZE 4 8 2 4 4 4 4\nTYPE F F I U F F F\nWIDTH "
         "2\nHEIGHT 1\nPOINTS 2\nDATA " +
         data + "\n";
}

const std::vector<std::string> columns = {test::raw(1.0f) + test::raw(4.0f),
                                          test::raw(2.0) + test::raw(5.0),
                                          test::raw(int16_t{-3}) + test::raw(int16_t{6}),
                                          test::raw(77u) + test::raw(78u),
                                          test::raw(0.0f) + test::raw(0.0f),
                                          test::raw(0.0f) + test::raw(5.0f),
                                          test::raw(1.0f) + test::raw(0.0f)};

std::string point_by_point() {
  std::string bytes;
  for (size_t i = 0; i < 2; ++i) {
    for (const std::string& column : columns) bytes += column.substr(i * column.size() / 2, column.size() / 2);
  }
  return bytes;
}

// LZF of literals only, 32 at a time.
std::string compressed() {
  std::string all, packed;
  for (const std::string& column : columns) all += column;
  for (size_t at = 0; at < all.size(); at += 32) {
    const std::string piece = all.substr(at, 32);
    packed += static_cast<char>(piece.size() - 1) + piece;
  }
  return test::raw(static_cast<uint32_t>(packed.size())) + test::raw(static_cast<uint32_t>(all.size())) + packed;
}

}  // namespace

TEST_CASE("PCD: ascii, binary and binary_compressed give the same cloud") {
  const std::vector<std::string> files = {head("ascii") + "1 2 -3 77 0 0 1\n4 5 6 78 0 5 0\n",
                                          head("binary") + point_by_point(), head("binary_compressed") + compressed()};
  for (const std::string& bytes : files) {
    const FileShape shape = read_pcd(bytes, "a.pcd");
    CHECK_FALSE(shape.is_mesh());
    test::require_equal(shape.mesh.vertices, at::tensor({1, 2, -3, 4, 5, 6}).view({2, 3}).to(at::kDouble), "points");
    test::require_equal(shape.normals, at::tensor({0, 0, 1, 0, 1, 0}).view({2, 3}).to(at::kFloat), "normals");
  }
}

TEST_CASE("PCD: the oldest form, and values that nobody needs") {
  const FileShape old =
      read_pcd("# .PCD v.5\r\nVERSION .5\r\nFIELDS x y z\r\nPOINTS 2\r\nDATA ascii\r\n1 2 3\r\n4 5 6\r\n", "a.pcd");
  test::require_equal(old.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
  const FileShape wide =
      read_pcd("FIELDS rgb x y z\nSIZE 4 4 4 4\nTYPE F F F F\nPOINTS 1\nDATA ascii\nnan 1 2 3\n", "a.pcd");
  test::require_equal(wide.mesh.vertices, at::arange(1, 4).view({1, 3}).to(at::kDouble), "points");
  test::require_error([] { read_pcd("FIELDS x y z r\nCOUNT 1 1 0 1\nPOINTS 1\nDATA ascii\n1 2 3\n", "a.pcd"); },
                      {"a.pcd", "\"z\"", "COUNT 0"});
}

TEST_CASE("PCD: broken files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_pcd(bytes, "a.pcd").require_finite(); }, words);
  };
  fails("", {"a.pcd"});
  fails(head("ascii") + "1 2 -3 77 0 0 1\n# but no second point, only a comment\n", {"2 points", "only 1"});
  fails(head("ascii") + "1 2 -3 77 0 0 1 9\n4 5 6 78 0 5 0\n", {"a.pcd:9", "the end of the line"});
  fails(head("ascii") + "1 2 -3 77 0 0\n4 5 6 78 0 5 0\n", {"a.pcd:9", "a coordinate"});
  fails(head("ascii") + "1 nan -3 77 0 0 1\n4 5 6 78 0 5 0\n", {"a.pcd:9", "finite", "nan"});
  fails(head("binary") + point_by_point().substr(1), {"2 points"});
  const std::string packed = compressed();
  fails(head("binary_compressed") + "123", {"the sizes of the compressed data"});
  fails(head("binary_compressed") + packed.substr(0, packed.size() - 1), {"bytes of compressed data"});
  fails(head("binary_compressed") + packed.substr(0, 4) + test::raw(4000000000u) + packed.substr(8),
        {"2 points of 30"});
  std::string damaged = packed;
  damaged[8] = 3;
  fails(head("binary_compressed") + damaged, {"LZF", "damaged"});
  fails("FIELDS x y\nSIZE 4 4\nTYPE F F\nPOINTS 1\nDATA ascii\n0 0\n", {"fields x, y and z"});
}

TEST_CASE("PCD: normals under the names of PLY") {
  const FileShape shape = read_pcd(
      "FIELDS nx ny nz x y z\nSIZE 4 4 4 4 4 4\nTYPE F F F F F F\nPOINTS 1\nDATA ascii\n0 0 2 1 2 3\n", "a.pcd");
  test::require_equal(shape.mesh.vertices, at::tensor({1.0, 2.0, 3.0}, at::kDouble).view({1, 3}), "points");
  test::require_equal(shape.normals, at::tensor({0.0F, 0.0F, 1.0F}).view({1, 3}), "normals");
}

TEST_CASE("PCD: labels, with normals or without") {
  const std::string types = "SIZE 4 4 4 4 4 4 4\nTYPE F F F F F F I\nPOINTS 2\nDATA ";
  const FileShape text =
      read_pcd("FIELDS x y z nx ny nz Label\n" + types + "ascii\n1 2 3 0 0 1 7\n4 5 6 0 0 1 -1\n", "a.pcd");
  test::require_equal(text.labels, at::tensor({7.0, -1.0}, at::kDouble), "labels");
  REQUIRE(text.normals.defined());
  CHECK(text.names == std::vector<std::string>{"x", "y", "z", "nx", "ny", "nz", "label"});
  std::string bytes = "FIELDS label x y z\nSIZE 2 4 4 4\nTYPE U F F F\nPOINTS 2\nDATA binary\n";
  for (const uint16_t label : {7, 9}) {
    bytes += test::raw(label);
    for (const float value : {1.0f, 2.0f, 3.0f}) bytes += test::raw(value);
  }
  const FileShape bare = read_pcd(bytes, "a.pcd");
  test::require_equal(bare.labels, at::tensor({7.0, 9.0}, at::kDouble), "labels");
  CHECK_FALSE(bare.normals.defined());
  const FileShape none =
      read_pcd("FIELDS x y z label\nSIZE 4 4 4 4\nTYPE F F F I\nCOUNT 1 1 1 0\nPOINTS 1\nDATA ascii\n1 2 3\n", "a.pcd");
  CHECK_FALSE(none.labels.defined());
}

TEST_CASE("PCD: the form in which scans are published") {
  std::string bytes =
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z rgb normal_x normal_y normal_z curvature\n"
      "SIZE 4 4 4 4 4 4 4 4\nTYPE F F F F F F F F\nCOUNT 1 1 1 1 1 1 1 1\nWIDTH 3\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\n"
      "POINTS 3\nDATA binary\n";
  // The colour is three bytes in the place of a number, and none at all where the scanner saw none.
  const float none = std::numeric_limits<float>::quiet_NaN(), colour = std::bit_cast<float>(0x00ff8001u);
  for (const auto& [x, seen] : {std::pair(0.5f, colour), std::pair(1.5f, none), std::pair(-2.5f, 0.0f)}) {
    for (const float number : {x, 2 * x, 0.25f, seen, 0.0f, 0.6f, -0.8f, none}) bytes += test::raw(number);
  }
  const FileShape shape = read_pcd(bytes, "scan.pcd");
  CHECK_FALSE(shape.is_mesh());
  test::require_equal(shape.mesh.vertices,
                      at::tensor({0.5, 1.0, 0.25, 1.5, 3.0, 0.25, -2.5, -5.0, 0.25}, at::kDouble).view({3, 3}),
                      "points");
  test::require_close(shape.normals, at::tensor({0.0F, 0.6F, -0.8F}).repeat({3, 1}), 1e-6, "normals");
}

TEST_CASE("PCD: a real scan") {
  const std::filesystem::path folder = test::real_data("shapes");
  if (folder.empty()) return;
  const FileShape shape = read_pcd(read_file(folder / "fragment.pcd"), "fragment.pcd");
  CHECK(shape.mesh.vertices.size(0) == 113662);
  REQUIRE(shape.normals.defined());
  CHECK(at::allclose(shape.normals.norm(2, 1), at::ones({113662})));
}

}  // namespace geosft::test::test_pcd
