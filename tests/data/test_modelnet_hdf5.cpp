// SPDX-License-Identifier: Apache-2.0
#include "data/modelnet_hdf5.h"

#include <catch2/catch.hpp>
#include <limits>

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

}  // namespace

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
  CHECK(train->label(1) == 0);
  // Without a list, the files that are there.
  const auto test = open_modelnet_hdf5(folder.path(), Split::test);
  CHECK(test->size() == 1);
  CHECK(test->has_normals());
  CHECK(test->class_names() == std::vector<std::string>{"bed", "sofa"});
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
