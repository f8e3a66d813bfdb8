// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <hdf5.h>

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test::test_modelnet_hdf5 {

namespace {

at::Tensor clouds(int64_t count, int64_t points, uint64_t seed) {
  return at::randn({count, points, 3}, test::generator(seed));
}

at::Tensor labels(std::vector<int64_t> values) {
  return at::tensor(values, at::kLong).unsqueeze(1).to(at::kByte);
}

// As the published files store a dataset: packed by gzip in chunks of some clouds.
template <typename Number>
void add_packed(hid_t file, const char* name, hid_t type, const at::Tensor& values) {
  const std::vector<hsize_t> sizes(values.sizes().begin(), values.sizes().end());
  std::vector<hsize_t> chunk = sizes;
  chunk[0] = (sizes[0] + 3) / 4;
  const auto rank = static_cast<int>(sizes.size());
  const hid_t space = H5Screate_simple(rank, sizes.data(), nullptr), list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, rank, chunk.data());
  H5Pset_deflate(list, 4);
  const hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  REQUIRE(data >= 0);
  const at::Tensor rows = values.contiguous();
  REQUIRE(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.const_data_ptr<Number>()) >= 0);
  H5Dclose(data);
  H5Pclose(list);
  H5Sclose(space);
}

}  // namespace

TEST_CASE("ModelNet HDF5: the form of the published files") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "shape_names.txt", "airplane\nbathtub\nbed\n");
  test::write_text(folder / "train_files.txt", "data/modelnet40_ply_hdf5_2048/ply_data_train0.h5\n");
  test::write_text(folder / "test_files.txt", "data/modelnet40_ply_hdf5_2048/ply_data_test0.h5\n");
  const at::Tensor points = clouds(10, 2048, 5) / 4;
  // Along the axes: their length is 1 without rounding, and the reader's division by it leaves them as they are.
  const at::Tensor axes = at::cat({at::eye(3), -at::eye(3)});
  const at::Tensor normals = axes.index({at::randint(6, {10, 2048}, test::generator(6), at::kLong)});
  const at::Tensor label = at::arange(10, at::kLong).unsqueeze(1) % 3;
  for (const char* name : {"ply_data_train0.h5", "ply_data_test0.h5"}) {
    const hid_t file = H5Fcreate((folder / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    add_packed<float>(file, "data", H5T_NATIVE_FLOAT, points);
    add_packed<int32_t>(file, "faceId", H5T_NATIVE_INT32, at::zeros({10, 2048}, at::kInt));
    add_packed<uint8_t>(file, "label", H5T_NATIVE_UINT8, label.to(at::kByte));
    add_packed<float>(file, "normal", H5T_NATIVE_FLOAT, normals);
    H5Fclose(file);
  }
  for (const Split split : {Split::train, Split::test}) {
    const auto set = open_modelnet_hdf5(folder.path(), split);
    REQUIRE(set->size() == 10);
    CHECK(set->class_names().size() == 3);
    REQUIRE(set->has_normals());
    for (const int64_t item : {0, 9}) {
      test::require_equal(set->get(item).points, points[item], "points");
      test::require_equal(set->get(item).normals, normals[item], "normals");
      CHECK(set->label(item) == item % 3);
    }
  }
}

TEST_CASE("ModelNet HDF5: the listed files, whatever folders stand before their names") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "shape_names.txt", "bed\nsofa\n");
  test::write_text(folder / "train_files.txt",
                   "data/modelnet40_ply_hdf5_2048/ply_data_train1.h5\nelsewhere/ply_data_train0.h5\n");
  const at::Tensor first = clouds(2, 8, 1), second = clouds(1, 8, 2);
  test::write_hdf5(folder / "ply_data_train0.h5", {{"data", first}, {"label", labels({0, 1})}});
  test::write_hdf5(folder / "ply_data_train1.h5", {{"data", second}, {"label", labels({1})}});
  test::write_hdf5(folder / "ply_data_test0.h5",
                   {{"data", clouds(1, 4, 3)}, {"normal", clouds(1, 4, 4)}, {"label", labels({0})}});
  CHECK(is_modelnet_hdf5(folder.path()));
  const auto train = open_modelnet_hdf5(folder.path(), Split::train);
  CHECK(train->size() == 3);
  CHECK_FALSE(train->has_normals());
  test::require_equal(train->get(0).points, second[0], "first of the list");
  test::require_equal(train->get(2).points, first[1], "second of the list");
  CHECK(train->get(2).name == "ply_data_train0:1");
  CHECK(train->name(2) == "ply_data_train0:1");
  CHECK_THROWS_AS(train->name(-1), std::out_of_range);
  CHECK(train->label(1) == 0);
  // Without a list, the files that are there.
  const auto test = open_modelnet_hdf5(folder.path(), Split::test);
  CHECK(test->size() == 1);
  CHECK(test->has_normals());
  CHECK(test->class_names() == std::vector<std::string>{"bed", "sofa"});
  CHECK(train->warnings().empty());
  REQUIRE(test->warnings().size() == 1);
  CHECK_THAT(test->warnings()[0], Catch::Contains("(test): 1 of 2 classes has no cloud: sofa"));
}

TEST_CASE("ModelNet HDF5: broken sets") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_modelnet_hdf5(folder.path()));
  const std::filesystem::path file = folder / "ply_data_train0.h5";
  const auto fails = [&](const std::vector<std::string>& words) {
    test::require_error([&] { open_modelnet_hdf5(folder.path(), Split::train); }, words);
  };
  test::write_hdf5(file, {{"data", clouds(2, 8, 1)}, {"label", labels({0, 2})}});
  fails({"shape_names.txt", "nothing of this name"});
  test::write_text(folder / "shape_names.txt", "bed\nsofa\n");
  fails({"ply_data_train0.h5", "labels from 0 to 1 for 2 classes", "label 2 of cloud 1"});
  test::write_hdf5(file, {{"data", clouds(2, 8, 1)}, {"label", labels({0})}});
  fails({"ply_data_train0.h5:label", "2 labels"});
  test::write_hdf5(file, {{"label", labels({0})}});
  fails({"ply_data_train0.h5:data", "none"});
  test::write_hdf5(file, {{"data", at::zeros({2, 8})}, {"label", labels({0, 1})}});
  fails({"ply_data_train0.h5:data", "[N, P, 3]", "[2, 8]"});
  test::write_hdf5(file, {{"data", clouds(2, 8, 1)}, {"label", labels({0, 1})}});
  test::write_hdf5(folder / "ply_data_train1.h5", {{"data", clouds(2, 9, 1)}, {"label", labels({0, 1})}});
  fails({"ply_data_train1.h5", "clouds as in ply_data_train0.h5", "[2, 9, 3]"});
  test::write_hdf5(folder / "ply_data_train1.h5",
                   {{"data", clouds(2, 8, 1)}, {"normal", clouds(2, 8, 1)}, {"label", labels({0, 1})}});
  fails({"ply_data_train1.h5", "without normals", "with normals"});
  test::write_text(folder / "train_files.txt", "ply_data_train7.h5\n");
  fails({"ply_data_train7.h5", "no file"});
  test::require_error([&] { open_modelnet_hdf5(folder.path(), Split::test); }, {"test_files.txt", "neither"});
}

TEST_CASE("ModelNet HDF5: of several files the broken one is named, with its cloud") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "shape_names.txt", "bed\nsofa\n");
  for (const char* name : {"ply_data_train0.h5", "ply_data_train1.h5", "ply_data_train2.h5"}) {
    test::write_hdf5(folder / name,
                     {{"data", clouds(3, 8, 1)}, {"normal", clouds(3, 8, 2)}, {"label", labels({0, 1, 0})}});
  }
  CHECK(open_modelnet_hdf5(folder.path(), Split::train)->size() == 9);
  const std::string broken = (folder / "ply_data_train1.h5").string();
  const auto fails = [&](const std::map<std::string, at::Tensor>& arrays, const std::vector<std::string>& words) {
    test::write_hdf5(broken, arrays);
    test::require_error([&] { open_modelnet_hdf5(folder.path(), Split::train); }, words);
  };
  at::Tensor hole = clouds(3, 8, 1);
  hole[2][5][0] = std::numeric_limits<float>::quiet_NaN();
  fails({{"data", hole}, {"normal", clouds(3, 8, 2)}, {"label", labels({0, 1, 0})}},
        {broken, "finite points", "NaN", "cloud 2"});
  fails({{"data", clouds(3, 8, 1)}, {"normal", hole}, {"label", labels({0, 1, 0})}},
        {broken, "finite normals", "NaN", "cloud 2"});
  fails({{"data", clouds(3, 8, 1)}, {"normal", clouds(3, 8, 2)}, {"label", labels({0, 7, 0})}},
        {broken, "labels from 0 to 1", "label 7 of cloud 1"});
}

TEST_CASE("ModelNet HDF5: a real set") {
  const std::filesystem::path folder = test::real_data("infomr40");
  if (folder.empty()) return;
  const auto train = open_modelnet_hdf5(folder, Split::train), test = open_modelnet_hdf5(folder, Split::test);
  CHECK(train->size() == 1331);
  CHECK(test->size() == 379);
  CHECK(train->class_names().size() == 40);
  CHECK(train->has_normals());
  CHECK(at::allclose(test->get(378).normals.norm(2, 1), at::ones({1024}), 1e-4));
}

}  // namespace geosft::test::test_modelnet_hdf5
