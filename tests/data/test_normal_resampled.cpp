// SPDX-License-Identifier: Apache-2.0
#include "data/normal_resampled.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_normal_resampled {

namespace {

void write_lists(const test::TemporaryFolder& folder, const std::string& train) {
  test::write_text(folder / "modelnet40_shape_names.txt", "bed\nnight_stand\nsofa\n");
  test::write_text(folder / "modelnet40_train.txt", train);
  test::write_text(folder / "modelnet40_test.txt", "bed_0002\n");
  test::write_text(folder / "bed/bed_0001.txt", "0,0,0,0,0,1\n");
  test::write_text(folder / "bed/bed_0002.txt", "0,0,0,0,0,1\n");
  test::write_text(folder / "night_stand/night_stand_0001.txt", "0,0,0,0,0,1\n");
}

}  // namespace

TEST_CASE("normal_resampled: listed shapes, a class without a folder is a remark") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_normal_resampled(folder.path()));
  write_lists(folder, "bed_0001\r\nnight_stand_0001\r\nsofa_0001\r\nsofa_0002\r\n");
  CHECK(is_normal_resampled(folder.path()));
  const DatasetListing train = list_normal_resampled(folder.path(), Split::train, false);
  REQUIRE(train.items.size() == 2);
  CHECK(train.items[1].name == "night_stand/night_stand_0001");
  CHECK(train.items[1].label == 1);
  CHECK(train.class_names.size() == 3);
  REQUIRE(train.remarks.size() == 1);
  CHECK_THAT(train.remarks[0], Catch::Contains("2 of the 4 shapes") && Catch::Contains("1 classes have no folder"));
  CHECK(list_normal_resampled(folder.path(), Split::test, false).items.size() == 1);
}

TEST_CASE("normal_resampled: an absent shape is an error that says how to allow it") {
  const test::TemporaryFolder folder;
  write_lists(folder, "bed_0001\nbed_0009\n");
  test::require_error([&] { list_normal_resampled(folder.path(), Split::train, false); },
                      {"bed_0009.txt", "1 of the 2 shapes", "allow_missing"});
  const DatasetListing train = list_normal_resampled(folder.path(), Split::train, true);
  CHECK(train.items.size() == 1);
  CHECK_THAT(train.remarks.at(0), Catch::Contains("1 of the 2 shapes"));
}

TEST_CASE("normal_resampled: names that lead elsewhere are refused") {
  for (const std::string bad : {"../../etc/passwd_1", "bed_../../x", "chair_0001", "bed", "bed_0001/../../x"}) {
    const test::TemporaryFolder folder;
    write_lists(folder, bad + "\n");
    test::require_error([&] { list_normal_resampled(folder.path(), Split::train, true); },
                        {"modelnet40_train.txt", "names such as bed_0001", bad});
  }
  const test::TemporaryFolder folder;
  write_lists(folder, "bed_0001\n");
  test::write_text(folder / "modelnet40_shape_names.txt", "bed\n..\n");
  test::require_error([&] { list_normal_resampled(folder.path(), Split::train, true); },
                      {"names of folders", "\"..\""});
}

TEST_CASE("normal_resampled: real shapes, through either list") {
  const std::filesystem::path folder = test::real_data("modelnet40_normal_resampled");
  if (folder.empty()) return;
  CHECK(list_normal_resampled(folder, Split::train, true).items.size() == 60);
  CHECK(list_normal_resampled(folder, Split::test, true).items.size() == 30);
  const DatasetListing ten = list_normal_resampled(folder / "modelnet10_test.txt", Split::train, true);
  CHECK(ten.class_names.size() == 10);
  CHECK(ten.items.size() == 30);
}

}  // namespace geosft::test::test_normal_resampled
