// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <c10/util/Half.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "data/data_error.h"
#include "tests/data/formats/npy_bytes.h"
#include "tests/data/zip_files.h"
#include "tests/support.h"

namespace geosft::test::test_npy {

namespace {

const std::vector<double> numbers = {1, 2, 3, 4, 5, 6};

std::string plain_npy() {
  return npy_bytes("<f4", false, "(2, 3)", raw_all<float>(numbers));
}

void require_numbers(const FileShape& shape) {
  test::require_equal(shape.mesh.vertices, at::arange(1, 7).view({2, 3}).to(at::kDouble), "points");
  REQUIRE_FALSE(shape.is_mesh());
}

std::string npz(const std::vector<std::pair<std::string, std::string>>& members) {
  const TemporaryFolder folder;
  write_zip(folder / "a.npz", members);
  return read_text(folder / "a.npz");
}

}  // namespace

TEST_CASE("NPY: every type and order of numbers") {
  require_numbers(read_npy(plain_npy(), "a.npy"));
  require_numbers(read_npy(npy_bytes(">f4", false, "(2, 3)", raw_all<float>(numbers, true)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<f8", false, "(1, 2, 3)", raw_all<double>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<f8", true, "(2L, 3L)", raw_all<double>({1, 4, 2, 5, 3, 6})), "a.npy"));
  require_numbers(read_npy(npy_bytes("|u1", false, "(2,3)", raw_all<uint8_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("|i1", false, "(2,3)", raw_all<int8_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes(">i2", false, "(2,3)", raw_all<int16_t>(numbers, true)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<u2", false, "(2,3)", raw_all<uint16_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<i4", false, "(2,3)", raw_all<int32_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<u4", false, "(2,3)", raw_all<uint32_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<i8", false, "(2,3)", raw_all<int64_t>(numbers)), "a.npy"));
  require_numbers(read_npy(npy_bytes("<u8", false, "(2,3)", raw_all<uint64_t>(numbers) + "more"), "a.npy"));
  std::string halves;
  for (const double value : numbers) halves += raw(c10::Half(static_cast<float>(value)).x);
  require_numbers(read_npy(npy_bytes("<f2", false, "(2, 3)", halves), "a.npy"));
}

TEST_CASE("NPY: coordinates keep double precision, the columns beyond them are normals or ignored") {
  const FileShape wide = read_npy(npy_bytes("<f8", false, "(1, 4)", raw_all<double>({500000.123, 2, 3, 9})), "a.npy");
  REQUIRE(wide.mesh.vertices[0][0].item<double>() == 500000.123);
  REQUIRE_FALSE(wide.normals.defined());
  const FileShape normals =
      read_npy(npy_bytes("<f4", false, "(1, 6)", raw_all<float>({1, 2, 3, 0, 3, 4})), "a.npy", "x,y,z,nx,ny,nz");
  test::require_close(normals.normals, at::tensor({0.0, 0.6, 0.8}).view({1, 3}).to(at::kFloat), 1e-6, "normals");
  const std::string colours = npy_bytes("<f4", false, "(1, 6)", raw_all<float>({1, 2, 3, 0, 128, 255}));
  CHECK_FALSE(read_npy(colours, "a.npy").normals.defined());
  test::require_error([&] { read_npy(colours, "a.npy", "x,y,z"); }, {"a.npy", "3 columns, as many as --columns", "6"});
  const FileShape parts = read_npy(npy_bytes("<f4", false, "(1, 7)", raw_all<float>({1, 2, 3, 0, 1, 0, 5})), "a.npy");
  test::require_equal(parts.normals, at::tensor({0, 1, 0}).view({1, 3}).to(at::kFloat), "normals");
  std::vector<double> channels(3 * 100, 0);
  channels[100] = 7;
  const FileShape transposed = read_npy(npy_bytes("<f4", false, "(3, 100)", raw_all<float>(channels)), "a.npy");
  REQUIRE(transposed.mesh.vertices.size(0) == 100);
  REQUIRE(transposed.mesh.vertices[0][1].item<double>() == 7);
}

TEST_CASE("NPY: broken and other arrays") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_npy(bytes, "a.npy").require_finite(); }, words);
  };
  const std::string whole = plain_npy();
  for (size_t size = 0; size < whole.size(); ++size)
    REQUIRE_THROWS_AS(read_npy(whole.substr(0, size), "a.npy"), DataError);
  fails("hello, world", {"a.npy", "NUMPY"});
  fails(npy_bytes("<f4", false, "(2, 3)", "short"), {"shape [2, 3]", "5 bytes"});
  fails(npy_bytes("<f4", false, "(9223372036854775807, 3)", "short"), {"9223372036854775807", "5 bytes"});
  fails(npy_bytes("<f4", false, "(0, 3)", ""), {"at least one point"});
  fails(npy_bytes("<f4", false, "(6,)", raw_all<float>(numbers)), {"[N, C]", "[6]"});
  fails(npy_bytes("<f4", false, "(3, 2)", raw_all<float>(numbers)), {"[N, C]", "[3, 2]"});
  fails(npy_bytes("<f4", false, "(2, 1, 3)", raw_all<float>(numbers)), {"one cloud", "[2, 1, 3]"});
  fails(npy_bytes("<f4", false, "(x, 3)", ""), {"sizes", "\"x\""});
  fails(npy_bytes("<f4", false, "(-2, 3)", ""), {"sizes", "\"-2\""});
  fails(npy_bytes("<f4", false, "2, 3", ""), {"'shape'"});
  fails(npy_bytes("[('x', '<f4'), ('y', '<f4')]", false, "(2,)", ""), {"<f4", "a structured one"});
  fails(npy_bytes("|O", false, "(2, 3)", ""), {"objects of Python"});
  fails(npy_bytes("<c8", false, "(2, 3)", ""), {"\"<c8\""});
  fails(npy_bytes("<f1", false, "(2, 3)", ""), {"\"<f1\""});
  fails(npy_bytes("<f4", false, "(1, 3)", raw_all<float>({1, NAN, 3})), {"finite coordinates"});
}

TEST_CASE("NPZ: points by name or alone, normals, faces") {
  require_numbers(read_npz(npz({{"points.npy", plain_npy()}, {"label.npy", "anything"}}), "a.npz"));
  require_numbers(read_npz(npz({{"x.npy", plain_npy()}}), "a.npz"));
  const std::string normals = npy_bytes("<f4", false, "(2, 3)", raw_all<float>({0, 0, 2, 0, 1, 0}));
  const FileShape cloud = read_npz(npz({{"pos.npy", plain_npy()}, {"normal.npy", normals}}), "a.npz");
  test::require_equal(cloud.normals, at::tensor({0, 0, 1, 0, 1, 0}).view({2, 3}).to(at::kFloat), "normals");
  const std::string vertices = npy_bytes("<f8", false, "(3, 3)", raw_all<double>({0, 0, 0, 1, 0, 0, 0, 1, 0}));
  const auto mesh = [&](const std::string& faces) { return npz({{"faces.npy", faces}, {"vertices.npy", vertices}}); };
  const FileShape triangle = read_npz(mesh(npy_bytes("<u4", false, "(1, 3)", raw_all<uint32_t>({2, 0, 1}))), "a.npz");
  test::require_equal(triangle.mesh.faces, at::tensor({2, 0, 1}, at::kLong).view({1, 3}), "faces");
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_npz(bytes, "a.npz").require_finite(); }, words);
  };
  fails(mesh(npy_bytes("<u4", false, "(1, 3)", raw_all<uint32_t>({2, 0, 3}))), {"3 vertices", "face 1"});
  fails(mesh(npy_bytes("<u8", false, "(1, 3)", raw_all<uint64_t>({2, 0, 1e18}))), {"3 vertices", "face 1"});
  fails(mesh(npy_bytes("<f4", false, "(1, 3)", raw_all<float>({2, 0, 1}))), {"faces.npy", "integers"});
  fails(mesh(npy_bytes("<u4", false, "(1, 4)", raw_all<uint32_t>({2, 0, 1, 1}))), {"faces.npy", "[F, 3]", "[1, 4]"});
  fails(npz({{"points.npy", vertices}, {"normals.npy", normals}}), {"normals.npy", "[3, 3]", "[2, 3]"});
  fails(npz({{"a.npy", vertices}, {"b.npy", vertices}}), {"a.npz", "\"points\"", "a.npy, b.npy"});
  fails("no archive", {"a.npz", "a zip file"});
}

TEST_CASE("NPZ and NPY: labels of the points, by the name of an array or column") {
  const std::string labels = npy_bytes("|u1", false, "(2,)", raw_all<uint8_t>({3, 255}));
  const at::Tensor expected = at::tensor({3.0, 255.0}, at::kDouble);
  const FileShape shape = read_npz(npz({{"points.npy", plain_npy()}, {"Labels.npy", labels}}), "a.npz");
  require_numbers(shape);
  test::require_equal(shape.labels, expected, "labels");
  CHECK(shape.names == std::vector<std::string>{"Labels", "points"});
  const std::string column = npy_bytes("<f4", false, "(2, 1)", raw_all<float>({3, 255}));
  // The class of the cloud, in whatever form, is no label of its points.
  for (const std::string& of_cloud : {npy_bytes("<i8", false, "()", raw_all<int64_t>({7})), std::string("anything"),
                                      npy_bytes("<U5", false, "(2,)", std::string(40, 'a')),
                                      npy_bytes("<i8", false, "(3,)", raw_all<int64_t>({7, 8, 9}))}) {
    const FileShape both =
        read_npz(npz({{"label.npy", of_cloud}, {"xyz.npy", plain_npy()}, {"part.npy", column}}), "a.npz");
    test::require_equal(both.labels, expected, "labels");
    const FileShape without = read_npz(npz({{"label.npy", of_cloud}, {"xyz.npy", plain_npy()}}), "a.npz");
    CHECK_FALSE(without.labels.defined());
    REQUIRE(without.names.size() == 2);
    CHECK_THAT(without.names[0], Catch::StartsWith("label of shape [") || Catch::Equals("label without numbers"));
    CHECK(without.names[1] == "xyz");
  }
  const std::string rows = npy_bytes("<f4", false, "(2, 4)", raw_all<float>({1, 2, 3, 3, 4, 5, 6, 255}));
  const FileShape told = read_npy(rows, "a.npy", "x,y,z,label");
  require_numbers(told);
  test::require_equal(told.labels, expected, "labels");
  CHECK(told.names == std::vector<std::string>{"x", "y", "z", "label"});
  CHECK_FALSE(read_npy(rows, "a.npy").labels.defined());
}

}  // namespace geosft::test::test_npy
