// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_shape_file {

TEST_CASE("the extension chooses the format, in any case") {
  for (const std::string name :
       {"a.obj", "b/a.OFF", "a.Stl", "a.ply", "a.pcd", "a.xyz", "a.b.TXT", "a.pts", "a.asc", "a.csv", "a.las", "a.npy",
        "a.npz", "a.bin", "a.bin.gz", "a.gltf", "a.GLB", "a.ply.gz", "a.Obj.GZ"}) {
    CHECK(has_shape_extension(name));
  }
  for (const std::string name : {"obj", "a.mtl", "a.obj.bak", ".obj", "", "a.gz", "a.laz", "a.e57"})
    CHECK_FALSE(has_shape_extension(name));
  CHECK(parse_shape(test::tetrahedron_obj, "a.OBJ").is_mesh());
  CHECK_FALSE(parse_shape("1 2 3\n", "a.xyz").is_mesh());
  test::require_error([] { parse_shape("x", "a.mtl"); }, {"a.mtl", ".ply, .obj"});
  for (const std::string name : {"a.obj", "a.off", "a.stl", "a.ply", "a.pcd", "a.xyz"}) {
    test::require_error([&] { parse_shape("", name); }, {name, "an empty file"});
  }
}

TEST_CASE("a shape compressed by gzip is unpacked") {
  const test::TemporaryFolder folder;
  for (const std::string name : {"a.obj.gz", "b.obj"}) {
    test::write_gz(folder / name, test::tetrahedron_obj);
    CHECK(parse_shape(test::read_text(folder / name), name).mesh.faces.size(0) == 4);
  }
  test::write_gz(folder / "a.csv.gz", "x,y,z\n1,2,3\n");
  CHECK(parse_shape(test::read_text(folder / "a.csv.gz"), "a.csv.gz").mesh.vertices.size(0) == 1);
}

TEST_CASE("what is no shape says what it is") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  for (const std::string name : {"a.obj", "a.off", "a.stl", "a.ply", "a.pcd", "a.xyz", "a.csv", "a.las", "a.npy"}) {
    const auto fails = [&](const std::string& bytes, const std::vector<std::string>& words) {
      test::require_error([&] { parse_shape(bytes, name); }, words);
    };
    fails(pointer, {name, "a shape", "a Git LFS pointer", "git lfs pull"});
    fails("<!DOCTYPE html>\n<html lang=\"en\"><head><title>Not found</title></head></html>", {name, "an HTML page"});
    fails("\xEF\xBB\xBF\r\n <HTML>", {name, "an HTML page"});
    fails("<?xml version=\"1.0\"?><Error/>", {name, "an XML document"});
    fails(std::string("PK\x03\x04", 4) + "x", {name, "a ZIP archive"});
    fails(std::string("\xFF\xFEv\0 \0", 6), {name, "UTF-16"});
  }
  for (const std::string name : {"a.bin", "a.npz"}) {
    test::require_error([&] { parse_shape(pointer, name); }, {name, "a Git LFS pointer"});
  }
  test::require_error([] { parse_shape("LASF", "scan.laz"); }, {"scan.laz", "compressed LAS", "pdal translate"});
  test::require_error([] { parse_shape("ASTM-E57", "scan.E57"); }, {"scan.E57", "E57", "CloudCompare"});
}

TEST_CASE("a shape under the ending of another format says which it is") {
  const auto fails = [](const std::string& bytes, const std::string& name, const std::string& ending) {
    test::require_error([&] { parse_shape(bytes, name); }, {name, "a " + ending + " file", "give it this ending"});
  };
  fails("# .PCD v0.7\nVERSION 0.7\n", "a.xyz", ".pcd");
  fails("# .PCD v0.7\nVERSION 0.7\n", "a.PLY", ".pcd");
  fails("ply\nformat ascii 1.0\n", "a.off", ".ply");
  fails("ply\r\nformat ascii 1.0\r\n", "a.pcd", ".ply");
  fails("LASF", "a.txt", ".las");
  fails("glTF", "a.obj", ".glb");
  fails("\x93NUMPY", "a.xyz", ".npy");
  // Raw float32 values may begin with any bytes.
  CHECK(parse_shape(std::string("LASF") + std::string(44, '\0'), "a.bin").mesh.vertices.size(0) == 3);
}

TEST_CASE("a mesh is sampled from the seed, a cloud is taken as it is") {
  const FileShape mesh = parse_shape(test::tetrahedron_obj, "a.obj");
  const Shape shape = to_cloud(mesh, 500, 3, "a.obj");
  CHECK(shape.points.sizes() == at::IntArrayRef({500, 3}));
  CHECK(shape.normals.sizes() == at::IntArrayRef({500, 3}));
  CHECK(shape.points.scalar_type() == at::kFloat);
  CHECK((shape.points >= 0).all().item<bool>());
  CHECK((shape.points.sum(1) <= 1 + 1e-6).all().item<bool>());
  CHECK(at::allclose(shape.normals.norm(2, 1), at::ones({500})));
  test::require_equal(to_cloud(mesh, 500, 3, "a.obj").points, shape.points, "same seed");
  CHECK_FALSE(at::equal(to_cloud(mesh, 500, 4, "a.obj").points, shape.points));
  const Shape cloud = to_cloud(parse_shape("1 2 3\n4 5 6\n", "a.xyz"), 500, 3, "a.xyz");
  CHECK((shape.from_mesh && !cloud.from_mesh));
  test::require_equal(cloud.points, at::arange(1, 7).view({2, 3}).to(at::kFloat), "cloud");
  CHECK_FALSE(cloud.normals.defined());
}

TEST_CASE("points without finite coordinates are an error that names the option, or dropped") {
  const std::string pcd =
      "FIELDS x y z normal_x normal_y normal_z\nSIZE 4 4 4 4 4 4\nTYPE F F F F F F\nWIDTH 2\nHEIGHT 2\nDATA ascii\n"
      "nan nan nan nan nan nan\n1 2 3 0 0 1\n4 5 6 nan nan nan\n7 8 9 0 1 0\n";
  test::require_error([&] { parse_shape(pcd, "scan.pcd"); },
                      {"scan.pcd:7", "--drop-invalid", "option drop_invalid", "nan"});
  const FileShape scan = parse_shape(pcd, "scan.pcd", {.drop_invalid = true});
  test::require_equal(scan.mesh.vertices, at::arange(1, 10).view({3, 3}).to(at::kDouble), "points");
  test::require_equal(scan.normals.sum(1), at::tensor({1.0F, 0.0F, 1.0F}), "normals");
  REQUIRE(scan.warnings.size() == 1);
  CHECK_THAT(scan.warnings[0], Catch::StartsWith("1 of its 4 points"));
  test::require_error([&] { to_cloud(read_pcd(pcd, "scan.pcd"), 1, 0, "scan.pcd"); }, {"scan.pcd:7", "finite"});
  CHECK_FALSE(parse_shape("1 2 3 0 0 1\n", "a.xyz", {.columns = "x,y,z,r,g,b"}).normals.defined());
}

TEST_CASE("a mesh without area is refused") {
  const FileShape flat = parse_shape("v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n", "flat.obj");
  test::require_error([&] { to_cloud(flat, 10, 0, "flat.obj"); }, {"flat.obj", "area"});
  const FileShape point = parse_shape("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "point.obj");
  test::require_error([&] { to_cloud(point, 10, 0, "point.obj"); }, {"point.obj", "area"});
  FileShape vast = parse_shape(test::tetrahedron_obj, "vast.obj");
  vast.mesh.vertices = vast.mesh.vertices * 1e300;
  test::require_error([&] { to_cloud(vast, 10, 0, "vast.obj"); }, {"vast.obj", "too far apart"});
}

TEST_CASE("a mesh so small that the squares of its areas are zero is sampled") {
  FileShape tiny = parse_shape(test::tetrahedron_obj, "tiny.obj");
  tiny.mesh.vertices = tiny.mesh.vertices * 1e-90;
  CHECK(at::allclose(to_cloud(tiny, 20, 0, "tiny.obj").normals.norm(2, 1), at::ones({20})));
}

}  // namespace geosft::test::test_shape_file
