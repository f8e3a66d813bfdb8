// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test::test_point_dataset {

TEST_CASE("open_point_dataset knows every kind of source") {
  const test::TemporaryFolder folder;
  PointDatasetOptions options;
  options.points_per_mesh = 20;
  options.cache = folder / "cache";
  const std::map<std::string, at::Tensor> arrays = {{"data", at::randn({2, 4, 3}, test::generator(1))},
                                                    {"label", at::tensor({0, 1}, at::kLong)}};
  test::write_hdf5(folder / "hdf5/ply_data_train0.h5", arrays);
  test::write_text(folder / "hdf5/shape_names.txt", "bed\nsofa\n");
  test::write_hdf5(folder / "scan/training_objectdataset.h5", arrays);
  test::write_text(folder / "text/modelnet40_shape_names.txt", "bed\n");
  test::write_text(folder / "text/modelnet40_train.txt", "bed_0001\n");
  test::write_text(folder / "text/bed/bed_0001.txt", "0,0,0,0,0,1\n1,0,0,0,0,1\n");
  test::write_text(folder / "tree/bed/a.obj", test::tetrahedron_obj);
  test::write_text(folder / "tree/sofa/a.xyz", "0 0 0\n");
  const auto open = [&](const std::string& name) { return open_point_dataset(folder / name, Split::train, options); };
  CHECK(open("hdf5")->class_names().size() == 2);
  CHECK(open("scan")->class_names().size() == 15);
  CHECK(open("text")->get(0).points.size(0) == 2);
  CHECK(open("text/modelnet40_train.txt")->has_normals());
  CHECK(open("tree")->get(0).points.size(0) == 20);
  CHECK(open("tree")->get(1).points.size(0) == 1);
  test::require_error([&] { open("absent"); }, {"absent", "nothing of this name"});
  test::require_error([&] { open("tree/bed"); }, {"tree/bed", "none of these"});
  test::require_error([&] { open("tree/bed/a.obj"); }, {"a.obj", "a folder of shapes"});
}

TEST_CASE("read_shape samples a mesh and takes a cloud as it is") {
  const test::TemporaryFolder folder;
  PointDatasetOptions options;
  options.points_per_mesh = 30;
  test::write_text(folder / "a.obj", test::tetrahedron_obj);
  test::write_text(folder / "a.xyz", "1 2 3\n1 2 3\n1 2 3\n");
  const Shape mesh = read_shape(folder / "a.obj", options);
  CHECK(mesh.points.size(0) == 30);
  CHECK(mesh.label == -1);
  CHECK_THAT(mesh.name, Catch::EndsWith("a.obj"));
  test::require_equal(read_shape(folder / "a.obj", options).points, mesh.points, "same seed");
  CHECK(read_shape(folder / "a.xyz", options).points.size(0) == 3);
  test::require_error([&] { read_shape(folder / "absent.obj"); }, {"absent.obj"});
  test::require_error([&] { read_shape(folder.path()); }, {"a folder"});
}

TEST_CASE("absolute_source is found from any working folder") {
  CHECK(absolute_source("furniture") == "furniture");
  CHECK(absolute_source("") == "");
  CHECK(absolute_source("/a/../b") == "/b");
  CHECK(absolute_source("some/data") == std::filesystem::current_path() / "some/data");
  CHECK(absolute_source("./furniture") == std::filesystem::current_path() / "furniture");
}

}  // namespace geosft::test::test_point_dataset
