// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_dataset.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "data/points/array_dataset.h"
#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test::test_point_dataset {

namespace {

// 20 clouds of class a, 10 of class b.
ArrayDataset clouds_of_two_classes() {
  CloudArrays arrays;
  arrays.points = at::randn({30, 4, 3}, test::generator(1));
  arrays.labels = (at::arange(30) >= 20).to(at::kLong);
  for (int64_t i = 0; i < 30; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b"}, "example");
}

}  // namespace

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
  test::require_error([&] { open("tree/bed"); }, {"tree/bed", "1 file with shapes in no class folder, such as a.obj"});
  test::require_error([&] { open("tree/bed/a.obj"); }, {"a.obj", "a folder of shapes"});
}

TEST_CASE("options of reading have an effect on files that can hold a cloud, and those of columns on tables") {
  const test::TemporaryFolder folder;
  const std::map<std::string, at::Tensor> arrays = {{"data", at::randn({2, 4, 3}, test::generator(1))},
                                                    {"label", at::tensor({0, 1}, at::kLong)}};
  test::write_hdf5(folder / "hdf5/ply_data_train0.h5", arrays);
  test::write_hdf5(folder / "scan/training_objectdataset.h5", arrays);
  test::write_text(folder / "text/modelnet40_shape_names.txt", "bed\n");
  test::write_text(folder / "text/modelnet40_train.txt", "bed_0001\n");
  test::write_text(folder / "text/bed/bed_0001.txt", "0,0,0,0,0,1\n1,0,0,0,0,1\n");
  test::write_text(folder / "meshes/train/bed/a.obj", test::tetrahedron_obj);
  test::write_text(folder / "surfaces/train/bed/a.stl", "solid a\nendsolid a\n");
  test::write_text(folder / "tables/train/bed/a.obj", test::tetrahedron_obj);
  test::write_text(folder / "tables/test/bed/b.xyz", "0 0 0\n");
  const auto used = [&](const std::string& name) {
    const ReadOptionUse use = read_option_use(name == "furniture" ? name : (folder / name).string());
    return std::pair(use.columns, use.drop_invalid);
  };
  for (const char* name : {"furniture", "hdf5", "scan", "scan/training_objectdataset.h5", "surfaces"}) {
    CHECK(used(name) == std::pair(false, false));
  }
  for (const char* name : {"text", "text/modelnet40_train.txt", "tables", "absent", "meshes/train/bed/a.obj"}) {
    CHECK(used(name) == std::pair(true, true));
  }
  CHECK(used("meshes") == std::pair(false, true));  // an OBJ without faces is a cloud
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

TEST_CASE("a subset hands out the rows it was given") {
  const ArrayDataset whole = clouds_of_two_classes();
  const PointSubset subset(whole, {25, 3});
  CHECK(subset.size() == 2);
  CHECK(subset.get(0).name == "25");
  CHECK(subset.name(0) == "25");
  CHECK(subset.label(0) == 1);
  CHECK(subset.label(1) == 0);
  CHECK(subset.class_names() == whole.class_names());
  CHECK_FALSE(subset.has_normals());
  CHECK_THROWS_AS(subset.get(2), std::out_of_range);
  CHECK_THROWS_AS(PointSubset(whole, {30}), std::out_of_range);
  CHECK_THROWS_AS(PointSubset(whole, {-1}), std::out_of_range);
}

TEST_CASE("a stratified split takes the same share of every class") {
  const ArrayDataset whole = clouds_of_two_classes();
  const auto [first, second] = stratified_split(whole, 0.2, 1);
  CHECK(std::count_if(second.begin(), second.end(), [](int64_t row) { return row < 20; }) == 4);
  CHECK(std::count_if(second.begin(), second.end(), [](int64_t row) { return row >= 20; }) == 2);
  std::vector<int64_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < 30; ++i) CHECK(all.at(i) == static_cast<int64_t>(i));
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK(std::is_sorted(second.begin(), second.end()));
  CHECK(stratified_split(whole, 0.2, 1).second == second);
  CHECK(stratified_split(whole, 0.2, 2).second != second);
}

TEST_CASE("at most so many rows of each class are sampled, of those that are given") {
  const ArrayDataset whole = clouds_of_two_classes();
  std::vector<int64_t> rows;
  for (int64_t row = 1; row < 30; ++row) rows.push_back(row);
  const std::vector<int64_t> kept = limited_per_class(whole, rows, 3, 1);
  REQUIRE(kept.size() == 6);
  REQUIRE(std::is_sorted(kept.begin(), kept.end()));
  REQUIRE(std::count_if(kept.begin(), kept.end(), [](int64_t row) { return row < 20; }) == 3);
  REQUIRE(std::count(kept.begin(), kept.end(), 0) == 0);
  REQUIRE(limited_per_class(whole, rows, 3, 1) == kept);
  REQUIRE(limited_per_class(whole, rows, 3, 2) != kept);
  REQUIRE(limited_per_class(whole, rows, 100, 1) == rows);
}

}  // namespace geosft::test::test_point_dataset
