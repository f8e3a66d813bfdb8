// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/data/points/utm_chair.h"
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

TEST_CASE("ScanObjectNN: what is taken of several variants is said, and classes without a cloud are named") {
  const test::TemporaryFolder folder;
  write_part(folder / "training_objectdataset.h5", 1);
  const auto one = open_scan_object_nn(folder.path(), Split::train, false);
  REQUIRE(one->warnings().size() == 1);
  CHECK_THAT(one->warnings()[0],
             Catch::Contains("training_objectdataset.h5: 13 of 15 classes have no cloud: bin, box"));
  write_part(folder / "training_objectdataset_a.h5", 1);
  const auto two = open_scan_object_nn(folder.path(), Split::train, false);
  REQUIRE(two->warnings().size() == 2);
  CHECK_THAT(two->warnings()[0], Catch::Contains("2 variants, of which *_objectdataset.h5 is taken") &&
                                     Catch::Contains("*_objectdataset_a.h5"));
  CHECK(open_scan_object_nn(folder / "training_objectdataset_a.h5", Split::train, false)->warnings().size() == 1);
}

TEST_CASE("ScanObjectNN: coordinates in double are centred in double") {
  const test::TemporaryFolder folder;
  test::write_hdf5(folder / "training_objectdataset.h5",
                   {{"data", utm_chair(90).unsqueeze(0)}, {"label", at::zeros({1}, at::kByte)}});
  const Shape shape = open_scan_object_nn(folder.path(), Split::train, false)->get(0);
  test::require_close(file_coordinates(shape) - utm_offset(), chair_at_origin(90), 1e-7, "chair");
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
