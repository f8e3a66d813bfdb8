// SPDX-License-Identifier: Apache-2.0
#include "data/points/scan_object_nn.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test::test_scan_object_nn {

namespace {

void write_part(const std::filesystem::path& file, uint64_t seed) {
  test::write_hdf5(file, {{"data", at::randn({2, 4, 3}, test::generator(seed))},
                          {"label", at::tensor({14, 0}, at::kLong).to(at::kByte)},
                          {"mask", at::tensor({-1, 3, 3, -1, 0, 0, 0, 0}, at::kLong).view({2, 4})}});
}

}  // namespace

TEST_CASE("ScanObjectNN: folder, main_split and variants") {
  const test::TemporaryFolder folder;
  write_part(folder / "main_split/training_objectdataset.h5", 1);
  write_part(folder / "main_split/test_objectdataset.h5", 2);
  write_part(folder / "main_split/training_objectdataset_augmentedrot_scale75.h5", 3);
  write_part(folder / "main_split/test_objectdataset_augmentedrot_scale75.h5", 4);
  CHECK(is_scan_object_nn(folder.path()));
  CHECK(is_scan_object_nn(folder / "main_split"));
  const auto dataset = open_scan_object_nn(folder.path(), Split::test, false);
  CHECK(dataset->size() == 2);
  CHECK(dataset->class_names().size() == 15);
  CHECK(dataset->class_names()[14] == "toilet");
  CHECK_FALSE(dataset->has_normals());
  CHECK(dataset->label(0) == 14);
  test::require_equal(dataset->get(0).points, at::randn({2, 4, 3}, test::generator(2))[0], "plain variant");
  const auto hard =
      open_scan_object_nn(folder / "main_split/training_objectdataset_augmentedrot_scale75.h5", Split::test, false);
  test::require_equal(hard->get(1).points, at::randn({2, 4, 3}, test::generator(4))[1], "named variant");
  const auto object = open_scan_object_nn(folder.path(), Split::train, true);
  CHECK(object->get(0).points.size(0) == 2);
  CHECK(object->get(1).points.size(0) == 4);
}

TEST_CASE("ScanObjectNN: broken sets") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_scan_object_nn(folder.path()));
  CHECK_FALSE(is_scan_object_nn(folder / "another.h5"));
  write_part(folder / "training_objectdataset_a.h5", 1);
  CHECK(open_scan_object_nn(folder.path(), Split::train, false)->size() == 2);
  test::require_error([&] { open_scan_object_nn(folder.path(), Split::test, false); },
                      {"test_objectdataset_a.h5", "no file"});
  write_part(folder / "training_objectdataset_b.h5", 1);
  test::require_error([&] { open_scan_object_nn(folder.path(), Split::train, false); },
                      {"one variant", "_a.h5", "_b.h5"});
  test::write_hdf5(folder / "training_objectdataset.h5",
                   {{"data", at::zeros({1, 2, 3})}, {"label", at::tensor({15}, at::kLong)}});
  test::require_error([&] { open_scan_object_nn(folder.path(), Split::train, false); },
                      {"training_objectdataset.h5", "15 classes", "label 15"});
  test::require_error([&] { open_scan_object_nn(folder.path(), Split::train, true); },
                      {"training_objectdataset.h5:mask", "none"});
}

}  // namespace geosft::test::test_scan_object_nn
