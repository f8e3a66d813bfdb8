// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/coloured_ply.h"

#include <catch2/catch.hpp>

#include "data/formats/shape_file.h"
#include "data/read_file.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_coloured_ply {

TEST_CASE("a coloured cloud is read back, with its colours and values between the coordinates") {
  const TemporaryFolder folder;
  const at::Tensor points = at::randn({7, 3}, generator(1), at::kFloat), values = at::arange(7, at::kFloat);
  const at::Tensor colours = at::rand({7, 3}, generator(2), at::kDouble);
  write_coloured_ply(folder / "cloud.ply", {points, colours, values});
  const std::string bytes = read_file(folder / "cloud.ply");
  require_equal(read_ply(bytes, "cloud.ply").mesh.vertices.to(at::kFloat), points, "points");
  const size_t row = bytes.find("end_header\n") + 11;
  REQUIRE(bytes.size() == row + 7 * (12 + 3 + 4));
  for (size_t c = 0; c < 3; ++c) {
    const auto expected = std::lround(255 * colours[2][static_cast<int64_t>(c)].item<double>());
    CHECK(static_cast<unsigned char>(bytes[row + 2 * 19 + 12 + c]) == expected);
  }
  CHECK(bytes.find("property float value") != std::string::npos);
}

TEST_CASE("normals are written after the coordinates, and read back") {
  const TemporaryFolder folder;
  const at::Tensor points = at::randn({7, 3}, generator(1), at::kDouble), raw = at::randn({7, 3}, generator(2));
  const at::Tensor normals = raw / raw.norm(2, 1, true);
  write_coloured_ply(
      folder / "cloud.ply",
      {.points = points, .colours = at::ones({7, 3}), .values = at::arange(7), .normals = normals.to(at::kDouble)});
  const std::string bytes = read_file(folder / "cloud.ply");
  CHECK(bytes.find("property double z\nproperty float nx\n") != std::string::npos);
  CHECK(bytes.find("property float nz\nproperty uchar red\n") != std::string::npos);
  CHECK(bytes.size() == bytes.find("end_header\n") + 11 + 7 * (24 + 12 + 3 + 4));
  const FileShape cloud = read_ply(bytes, "cloud.ply");
  require_equal(cloud.mesh.vertices, points, "points");
  require_close(cloud.normals, normals, 1e-6, "normals");
}

TEST_CASE("coordinates are written in the precision that they have") {
  const TemporaryFolder folder;
  const at::Tensor points = at::randn({5, 3}, generator(1), at::kDouble) + 5155487.0;
  write_coloured_ply(folder / "cloud.ply", {.points = points, .colours = at::ones({5, 3}), .values = at::arange(5)});
  const std::string bytes = read_file(folder / "cloud.ply");
  CHECK(bytes.find("property double z\n") != std::string::npos);
  require_equal(read_ply(bytes, "cloud.ply").mesh.vertices, points, "points");
}

TEST_CASE("whole numbers are written as such, under the name that they are given") {
  const TemporaryFolder folder;
  const at::Tensor labels = at::tensor({7, 16777217}, at::kLong);  // a float would round the second
  write_coloured_ply(folder / "parts.ply", {at::zeros({2, 3}), at::ones({2, 3}), labels, "part"});
  const std::string bytes = read_file(folder / "parts.ply");
  CHECK(bytes.find("property int part\n") != std::string::npos);
  const size_t row = bytes.find("end_header\n") + 11;
  REQUIRE(bytes.size() == row + 2 * 19);
  CHECK(bytes.substr(row + 15, 4) == raw<int32_t>(7));
  CHECK(bytes.substr(row + 34, 4) == raw<int32_t>(16777217));
}

TEST_CASE("edges are written after the points, values only where there are some") {
  const TemporaryFolder folder;
  const at::Tensor edges = at::tensor({0, 1, 1, 2}, at::kLong).view({2, 2});
  write_coloured_ply(folder / "graph.ply", {.points = at::zeros({3, 3}), .colours = at::ones({3, 3}), .edges = edges});
  const std::string bytes = read_file(folder / "graph.ply");
  CHECK(bytes.find("element edge 2\n") != std::string::npos);
  CHECK(bytes.find("value") == std::string::npos);
  CHECK(bytes.size() == bytes.find("end_header\n") + 11 + 3 * 15 + 2 * 8);
}

TEST_CASE("a mesh keeps its faces beside colours and values") {
  const TemporaryFolder folder;
  const at::Tensor faces = at::tensor({0, 1, 2, 2, 1, 3}, at::kLong).view({2, 3});
  const at::Tensor points = at::randn({4, 3}, generator(1), at::kFloat);
  write_coloured_ply(
      folder / "mesh.ply",
      {.points = points, .colours = at::ones({4, 3}), .values = at::arange(4, at::kLong), .faces = faces});
  const FileShape mesh = read_ply(read_file(folder / "mesh.ply"), "mesh.ply");
  require_equal(mesh.mesh.vertices.to(at::kFloat), points, "vertices");
  require_equal(mesh.mesh.faces, faces, "faces");
}

TEST_CASE("colours and values of another length, and folders that are not there, are refused") {
  const TemporaryFolder folder;
  const auto write = [&](const at::Tensor& colours, const at::Tensor& values) {
    write_coloured_ply(folder / "x.ply", {at::zeros({3, 3}), colours, values});
  };
  require_error([&] { write(at::zeros({2, 3}), {}); }, {"colours", "[2, 3]"});
  require_error([&] { write(at::zeros({3, 3}), at::zeros({4})); }, {"values", "[4]"});
  require_error(
      [&] {
        write_coloured_ply(folder / "x.ply",
                           {.points = at::zeros({3, 3}), .colours = at::zeros({3, 3}), .normals = at::zeros({2, 3})});
      },
      {"normals", "[2, 3]"});
  require_error(
      [&] {
        write_coloured_ply(folder / "no" / "x.ply", {at::zeros({1, 3}), at::zeros({1, 3})});
      },
      {"x.ply"});
}

}  // namespace geosft::test::test_coloured_ply
