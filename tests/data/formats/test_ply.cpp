// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_ply {

namespace {

std::string head(const std::string& format, int vertices, int faces) {
  return "ply\nformat " + format + " 1.0\nelement vertex " + std::to_string(vertices) +
         "\nproperty double x\nproperty float y\nproperty short z\nproperty uchar red\nproperty float nx\nproperty "
         "float "
         "ny\nproperty float nz\nelement face " +
         std::to_string(faces) +
         "\nproperty list uchar int vertex_indices\nproperty uchar flag\nelement edge 1\nproperty int v\nend_header\n";
}

// A square in z = -2 with normals along x, one polygon, one edge.
std::string binary_square(bool big) {
  std::string bytes = head(big ? "binary_big_endian" : "binary_little_endian", 4, 1);
  const double x[] = {0, 1, 1, 0};
  const float y[] = {0, 0, 1, 1};
  for (int i = 0; i < 4; ++i) {
    bytes += test::raw(x[i], big) + test::raw(y[i], big) + test::raw(int16_t{-2}, big) + "r";
    bytes += test::raw(2.0f, big) + test::raw(0.0f, big) + test::raw(0.0f, big);
  }
  bytes += test::raw(uint8_t{4});
  for (int32_t corner = 0; corner < 4; ++corner) bytes += test::raw(corner, big);
  return bytes + "f" + test::raw(int32_t{1}, big);
}

const std::string text_square =
    head("ascii", 4, 1) + "0 0 -2 9 2 0 0\n1 0 -2 9 2 0 0\n1 1 -2 9 2 0 0\n0 1 -2 9 2 0 0\n4 0 1 2 3 7\n1\n";

// A cloud of two points whose coordinates and a property before them have the type `name`: low, high, 1 and 2, high, 3.
template <class Number>
void require_type(const std::string& name, Number low, Number high) {
  const std::vector<Number> values = {Number(7), low, high, Number(1), Number(7), Number(2), high, Number(3)};
  at::Tensor expected = at::empty({2, 3}, at::kDouble);
  for (int64_t i = 0; i < 6; ++i)
    expected.view({6})[i] = static_cast<double>(values[static_cast<size_t>(i + 1 + i / 3)]);
  for (const std::string format : {"ascii", "binary_little_endian", "binary_big_endian"}) {
    INFO(name << " " << format);
    std::string bytes = "ply\nformat " + format + " 1.0\nelement vertex 2\n";
    for (const char* property : {"red", "x", "y", "z"}) bytes += "property " + name + " " + property + "\n";
    bytes += "end_header\n";
    std::ostringstream text;
    text.precision(17);
    for (const Number value : values) {
      text << +value << ' ';
      if (format != "ascii") bytes += test::raw(value, format == "binary_big_endian");
    }
    if (format == "ascii") bytes += text.str();
    const FileShape shape = read_ply(bytes, "a.ply");
    test::require_equal(shape.mesh.vertices, expected, "vertices");
    if (format == "ascii") continue;
    REQUIRE_THROWS(read_ply(bytes.substr(0, bytes.size() - 1), "a.ply"));
  }
}

template <class Number>
void require_integer(const std::string& name) {
  require_type<Number>(name, std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max());
}

}  // namespace

TEST_CASE("PLY: each type of number under both of its names, to its smallest and largest value") {
  for (const char* name : {"char", "int8"}) require_integer<int8_t>(name);
  for (const char* name : {"uchar", "uint8"}) require_integer<uint8_t>(name);
  for (const char* name : {"short", "int16"}) require_integer<int16_t>(name);
  for (const char* name : {"ushort", "uint16"}) require_integer<uint16_t>(name);
  for (const char* name : {"int", "int32"}) require_integer<int32_t>(name);
  for (const char* name : {"uint", "uint32"}) require_integer<uint32_t>(name);
  for (const char* name : {"float", "float32"}) require_type<float>(name, -0.375f, 65536.5f);
  for (const char* name : {"double", "float64"}) require_type<double>(name, -0.1, 1e9 + 0.1);
}

TEST_CASE("PLY: faces whose lengths and corners have any type of integer") {
  const std::string vertices = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
  for (const bool big : {false, true}) {
    const auto triangle = [&](const std::string& types, const std::string& corners) {
      INFO(types);
      std::string bytes = std::string("ply\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
                          " 1.0\n" + vertices + "element face 1\nproperty list " + types +
                          " vertex_indices\nend_header\n";
      for (int i = 0; i < 9; ++i) bytes += test::raw(static_cast<float>(i), big);
      const FileShape shape = read_ply(bytes + corners, "a.ply");
      test::require_equal(shape.mesh.faces, at::tensor({2, 0, 1}, at::kLong).view({1, 3}), "faces");
    };
    const auto list = [&](auto length, auto corner) {
      using Length = decltype(length);
      using Corner = decltype(corner);
      return test::raw(Length(3), big) + test::raw(Corner(2), big) + test::raw(Corner(0), big) +
             test::raw(Corner(1), big);
    };
    triangle("int8 uint16", list(int8_t{}, uint16_t{}));
    triangle("uint16 int8", list(uint16_t{}, int8_t{}));
    triangle("uint8 int16", list(uint8_t{}, int16_t{}));
    triangle("int16 uint8", list(int16_t{}, uint8_t{}));
    triangle("uint32 uint32", list(uint32_t{}, uint32_t{}));
  }
}

TEST_CASE("PLY: text, little endian and big endian give the same shape") {
  for (const std::string& bytes : {text_square, binary_square(false), binary_square(true)}) {
    const FileShape shape = read_ply(bytes, "a.ply");
    test::require_equal(shape.mesh.vertices,
                        at::tensor({0, 0, -2, 1, 0, -2, 1, 1, -2, 0, 1, -2}).view({4, 3}).to(at::kDouble), "vertices");
    test::require_equal(shape.mesh.faces, at::tensor({0, 1, 2, 0, 2, 3}, at::kLong).view({2, 3}), "faces");
    test::require_equal(shape.normals, at::tensor({1, 0, 0}).to(at::kFloat).expand({4, 3}), "normals");
  }
}

TEST_CASE("PLY: a cloud") {
  const FileShape shape = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 "
      "3 4 5 6",
      "a.ply");
  CHECK_FALSE(shape.is_mesh());
  test::require_equal(shape.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
}

TEST_CASE("PLY: every truncation is seen") {
  for (const std::string& whole :
       {text_square.substr(0, text_square.size() - 1), binary_square(false), binary_square(true)}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      REQUIRE_THROWS(read_ply(whole.substr(0, size), "a.ply"));
    }
  }
}

TEST_CASE("PLY: what follows the announced elements is told") {
  const std::string header = "element vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
  const std::string text = "ply\nformat ascii 1.0\n" + header + "1 2 3\n4 5 6\n";
  std::string bytes = "ply\nformat binary_little_endian 1.0\n" + header;
  for (const float value : {1, 2, 3, 4, 5, 6}) bytes += test::raw(value);
  for (const std::string& whole : {text, text + " \n\n", bytes, bytes + "\r\n", bytes + std::string(9, '\0')}) {
    CHECK(read_ply(whole, "a.ply").warnings.empty());
  }
  for (const std::string& more : {text + "7 8 9\n", bytes + test::raw(7.0F)}) {
    const FileShape shape = read_ply(more, "a.ply");
    CHECK(shape.mesh.vertices.size(0) == 2);
    REQUIRE(shape.warnings.size() == 1);
    CHECK_THAT(shape.warnings[0], Catch::Contains("more follows than the header announces"));
  }
}

TEST_CASE("PLY: triangle strips") {
  const std::string vertices = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string numbers = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n";
  const at::Tensor expected = at::tensor({0, 1, 2, 2, 1, 3, 3, 1, 0}, at::kLong).view({3, 3});
  const std::string strips = "element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
  const FileShape text =
      read_ply("ply\nformat ascii 1.0\n" + vertices + strips + numbers + "8 0 1 2 3 -1 3 1 0\n", "a.ply");
  test::require_equal(text.mesh.faces, expected, "faces");
  std::string bytes = "ply\nformat binary_little_endian 1.0\n" + vertices + strips;
  for (const float value : {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}) bytes += test::raw(value);
  for (const int32_t value : {8, 0, 1, 2, 3, -1, 3, 1, 0}) bytes += test::raw(value);
  test::require_equal(read_ply(bytes, "a.ply").mesh.faces, expected, "faces");
}

TEST_CASE("PLY: values that nobody needs may be any numbers") {
  const FileShape shape = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float quality\nproperty float x\nproperty float y\nproperty "
      "float z\nelement face 1\nproperty list uchar float texcoord\nproperty list uchar int vertex_indices\n"
      "end_header\nnan 0 0 0\n-1.#IND 1 0 0\ninf 0 1 0\n0 nan nan nan\n2 nan 0.5 3 0 1 2\n",
      "a.ply");
  test::require_equal(shape.mesh.faces, at::tensor({0, 1, 2}, at::kLong).view({1, 3}), "faces");
  test::require_equal(shape.mesh.vertices[2], at::tensor({0, 1, 0}).to(at::kDouble), "vertex");
  CHECK(shape.warnings.size() == 1);
}

TEST_CASE("PLY: broken files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_ply(bytes, "a.ply").require_finite(); }, words);
  };
  const std::string xyz = "\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string begin = "ply\nformat ascii 1.0\nelement vertex 3" + xyz;
  const std::string face = "element face 1\nproperty list int int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  CHECK(read_ply(begin + face + "3 0 1 2\n", "a.ply").is_mesh());
  fails(begin + face + "3 0 1 3\n", {"a.ply", "3 vertices", "face 1"});
  fails(begin + face + "3 0 1 -1\n", {"3 vertices", "face 1"});
  fails(begin + face + "3 0 1 0.5\n", {"whole numbers as corners", "0.5 in face 1"});
  fails(begin + face + "-3 0 1 2\n", {"a list \"vertex_index\""});
  fails(begin + face + "1000000000000 0 1 2\n", {"a list \"vertex_index\""});
  CHECK(read_ply(begin + face + "2 0 1\n", "a.ply").warnings.size() == 1);
  fails(begin + "end_header\n0 0 0\n1 nan 0\n0 1 0\n", {"a.ply", "finite", "nan", "point 2"});
  fails(begin + "end_header\n0 0 0\n1 x 0\n0 1 0\n", {"a.ply:9", "a number", "\"x\""});
  fails("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n", {"properties x, y and z"});
  fails("ply\nformat ascii 1.0\nelement vertex 0" + xyz + "end_header\n", {"at least one point"});
  fails(begin + "end_header\n0 0 0\n1 0 0\n0", {"a.ply", "3 vertices", "end of the file after 2", "cut off"});
  fails(begin + face + "3 0 1", {"1 faces", "end of the file after 0", "cut off"});
  const std::string raw = "ply\nformat binary_little_endian 1.0\nelement vertex 2" + xyz + "end_header\n";
  fails(raw + "12345678901234567890", {"2 vertices", "end of the file after 1", "cut off"});
  std::string nan = "ply\nformat binary_little_endian 1.0\nelement vertex 1" + xyz + "end_header\n";
  for (int i = 0; i < 3; ++i) nan += test::raw(std::numeric_limits<float>::quiet_NaN());
  fails(nan, {"finite coordinates", "point 1"});
}

TEST_CASE("PLY: labels of any type, whatever their values") {
  const std::string xyz = "\nproperty float x\nproperty float y\nproperty float z\n";
  const at::Tensor expected = at::tensor({2.0, -1.0}, at::kDouble);
  const FileShape text = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 2" + xyz + "property float Scalar_Label\nend_header\n0 0 0 2\n1 0 0 -1\n",
      "a.ply");
  test::require_equal(text.labels, expected, "labels");
  CHECK(text.names == std::vector<std::string>{"x", "y", "z", "scalar_label"});
  for (const bool big : {false, true}) {
    std::string bytes = std::string("ply\nformat binary_") + (big ? "big" : "little") +
                        "_endian 1.0\nelement vertex 2" + xyz + "property uchar red\nproperty int part\nend_header\n";
    for (const int32_t label : {2, -1}) {
      for (const float value : {1.0f, 2.0f, 3.0f}) bytes += test::raw(value, big);
      bytes += "r" + test::raw(label, big);
    }
    test::require_equal(read_ply(bytes, "a.ply").labels, expected, "labels");
  }
  const FileShape any = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 1" + xyz + "property float class\nend_header\n0 0 0 nan\n", "a.ply");
  CHECK(any.labels.isnan().all().item<bool>());
  const FileShape list = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 1" + xyz + "property list uchar int label\nend_header\n0 0 0 1 5\n",
      "a.ply");
  CHECK_FALSE(list.labels.defined());
  CHECK(list.names.back() == "label (a list)");
}

TEST_CASE("PLY: normals under the names of PCL") {
  const FileShape shape = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float normal_x\nproperty float normal_y\nproperty float "
      "normal_z\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 2 0 1 2 3\n",
      "a.ply");
  test::require_equal(shape.mesh.vertices, at::tensor({1.0, 2.0, 3.0}, at::kDouble).view({1, 3}), "points");
  test::require_equal(shape.normals, at::tensor({0.0F, 1.0F, 0.0F}).view({1, 3}), "normals");
}

}  // namespace geosft::test::test_ply
