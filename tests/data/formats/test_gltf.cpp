// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch.hpp>
#include <cmath>

#include "data/data_error.h"
#include "data/formats/shape_file.h"
#include "tests/data/formats/gltf_texts.h"
#include "tests/support.h"

namespace geosft::test::test_gltf {

namespace {

void require_vertices(const FileShape& shape, const std::vector<double>& expected) {
  const at::Tensor rows = at::tensor(expected, at::kDouble).view({-1, 3});
  test::require_close(shape.mesh.vertices, rows, 1e-12, "vertices");
}

void require_faces(const FileShape& shape, const std::vector<int64_t>& expected) {
  test::require_equal(shape.mesh.faces, at::tensor(expected, at::kLong).view({-1, 3}), "faces");
}

FileShape shape_of_node(const std::string& node) {
  GltfExample example;
  example.node = node;
  return read_gltf(gltf_text(example), "a.gltf");
}

FileShape shape_of_primitive(const std::string& primitive) {
  GltfExample example;
  example.primitive = primitive;
  return read_gltf(gltf_text(example), "a.gltf");
}

}  // namespace

TEST_CASE("glTF: a triangle in text, in binary, and with its buffer beside it") {
  const TemporaryFolder folder;
  write_text(folder / "a b.bin", gltf_buffer());
  GltfExample beside;
  beside.uri = "a%20b.bin";
  for (const FileShape& shape : {read_gltf(gltf_text({}), "a.gltf"), read_gltf(glb_bytes({}), "a.glb"),
                                 read_gltf(gltf_text(beside), (folder / "a.gltf").string())}) {
    require_vertices(shape, {0, 0, 0, 1, 0, 0, 0, 2, 0});
    require_faces(shape, {0, 1, 2});
    REQUIRE(shape.is_mesh());
  }
  REQUIRE(parse_shape(glb_bytes({}), "a.GLB").is_mesh());
}

TEST_CASE("glTF: transforms of nodes") {
  require_vertices(shape_of_node(R"("mesh": 0, "translation": [10, 20, 30], "scale": [1, 2, 3])"),
                   {10, 20, 30, 11, 20, 30, 10, 24, 30});
  // A quarter turn about z, of which the quaternion has length 2.
  require_vertices(shape_of_node(R"("mesh": 0, "rotation": [0, 0, 1.4142135623730951, 1.4142135623730951])"),
                   {0, 0, 0, 0, 1, 0, -2, 0, 0});
  // x goes to y, y to z, and everything up by 5.
  require_vertices(shape_of_node(R"("mesh": 0, "matrix": [0,1,0,0, 0,0,1,0, 1,0,0,0, 0,0,5,1])"),
                   {0, 0, 5, 0, 1, 5, 0, 0, 7});
  const FileShape mirrored = shape_of_node(R"("mesh": 0, "scale": [-1, 1, 1])");
  require_vertices(mirrored, {0, 0, 0, -1, 0, 0, 0, 2, 0});
  require_faces(mirrored, {1, 0, 2});
  const FileShape nested =
      shape_of_node(R"("translation": [1, 0, 0], "children": [1, 2]}, {"mesh": 0, "scale": [2, 2, 2]}, {"mesh": 0)");
  require_vertices(nested, {1, 0, 0, 3, 0, 0, 1, 4, 0, 1, 0, 0, 2, 0, 0, 1, 2, 0});
  require_faces(nested, {0, 1, 2, 3, 4, 5});
}

TEST_CASE("glTF: modes of primitives") {
  require_faces(shape_of_primitive(R"("attributes": {"POSITION": 0})"), {0, 1, 2});
  require_faces(shape_of_primitive(R"("attributes": {"POSITION": 0}, "mode": 5)"), {0, 1, 2});
  require_faces(shape_of_primitive(R"("attributes": {"POSITION": 0}, "mode": 6)"), {0, 1, 2});
  const FileShape points = shape_of_primitive(R"("attributes": {"POSITION": 0, "NORMAL": 1}, "mode": 0)");
  REQUIRE_FALSE(points.is_mesh());
  test::require_equal(points.normals, at::tensor({0, 1, 0}).to(at::kFloat).expand({3, 3}), "normals");
  REQUIRE_FALSE(shape_of_primitive(R"("attributes": {"POSITION": 0}, "mode": 0)").normals.defined());
  const FileShape lines =
      shape_of_primitive(R"("attributes": {"POSITION": 0}}, {"attributes": {"POSITION": 0}, "mode": 1)");
  REQUIRE(lines.mesh.vertices.size(0) == 3);
  REQUIRE(lines.warnings == std::vector<std::string>{"1 primitives of lines are ignored"});
  // Normals are those of the surface, also where axes are scaled differently: the normal y becomes -x + y.
  GltfExample sheared;
  sheared.node = R"("mesh": 0, "matrix": [1,1,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1])";
  sheared.primitive = R"("attributes": {"POSITION": 0, "NORMAL": 1}, "mode": 0)";
  const double half = std::sqrt(0.5);
  test::require_close(read_gltf(gltf_text(sheared), "a.gltf").normals[0], at::tensor({-half, half, 0.0}).to(at::kFloat),
                      1e-6, "normal");
}

TEST_CASE("glTF: broken files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_gltf(bytes, "a.gltf"); }, words);
  };
  const std::string glb = glb_bytes({});
  for (size_t size = 0; size < glb.size(); ++size) {
    REQUIRE_THROWS_AS(read_gltf(glb.substr(0, size), "a.glb"), DataError);
  }
  fails("", {"a.gltf", "a glTF 2.0 file"});
  fails("{}", {"a.gltf", "a glTF 2.0 file"});
  fails("glTF", {"20 bytes"});
  fails(std::string(100000, '['), {"nested too deeply"});
  GltfExample example;
  for (const std::string uri : {"../a.bin", "/etc/passwd", "absent.bin"}) {
    example.uri = uri;
    fails(gltf_text(example), {"a.gltf", "File not found"});
  }
  const auto primitive_fails = [](const std::string& primitive, const std::vector<std::string>& words) {
    test::require_error([&] { shape_of_primitive(primitive); }, words);
  };
  primitive_fails(R"("attributes": {"POSITION": 9})", {"accessor below 3", "9"});
  primitive_fails(R"("attributes": {"POSITION": 2})", {"positions of three numbers"});
  primitive_fails(R"("attributes": {"NORMAL": 1})", {"at least one point"});
  primitive_fails(R"("attributes": {"POSITION": 0}, "indices": 0)", {"indices of unsigned integers"});
  primitive_fails(R"("attributes": {"POSITION": 0}, "mode": 9)", {"a mode from 0 to 6", "9"});
  test::require_error([] { shape_of_node(R"("mesh": 7)"); }, {"mesh below 1", "7"});
  test::require_error([] { shape_of_node(R"("mesh": 0, "children": [0])"); }, {"a tree of nodes", "node 0"});
  test::require_error([] { shape_of_node(R"("mesh": 0, "children": [5])"); }, {"node below 1", "5"});
  GltfExample compressed;
  compressed.more = R"(, "extensionsRequired": ["KHR_draco_mesh_compression"])";
  fails(gltf_text(compressed), {"KHR_draco_mesh_compression", "gltf-transform"});
  std::string beyond = gltf_text({});
  beyond.replace(beyond.find("\"count\": 3"), 10, "\"count\": 9");
  fails(beyond, {"accessor 0 within its buffer", "9 elements"});
}

}  // namespace geosft::test::test_gltf
