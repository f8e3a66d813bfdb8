// SPDX-License-Identifier: Apache-2.0
#include "data/folder_tree.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_folder_tree {

namespace {

std::vector<std::string> names(const DatasetListing& listing) {
  std::vector<std::string> found;
  for (const DatasetItem& item : listing.items) found.push_back(item.name);
  return found;
}

}  // namespace

TEST_CASE("folder tree: split folders above the classes") {
  const test::TemporaryFolder folder;
  for (const std::string file : {"train/chair/b.off", "train/chair/a.OBJ", "train/bed/a.ply", "test/sofa/x.stl",
                                 "test/bed/a.xyz", "train/chair/a.mtl", "train/.hidden/a.ply", "train/chair/.b.off"}) {
    test::write_text(folder / file, "");
  }
  const DatasetListing train = list_folder_tree(folder.path(), Split::train, 5);
  const DatasetListing test = list_folder_tree(folder.path(), Split::test, 5);
  CHECK(train.class_names == std::vector<std::string>{"bed", "chair", "sofa"});
  CHECK(test.class_names == train.class_names);
  CHECK(names(train) == std::vector<std::string>{"train/bed/a.ply", "train/chair/a.OBJ", "train/chair/b.off"});
  CHECK(names(test) == std::vector<std::string>{"test/bed/a.xyz", "test/sofa/x.stl"});
  CHECK(test.items[1].label == 2);
}

TEST_CASE("folder tree: split folders below the classes, as in ModelNet") {
  const test::TemporaryFolder folder;
  for (const std::string file :
       {"bed/train/bed_1.off", "bed/test/bed_2.off", "sofa/train/sofa_1.off", "sofa/extra.off"}) {
    test::write_text(folder / file, "");
  }
  const DatasetListing train = list_folder_tree(folder.path(), Split::train, 5);
  CHECK(names(train) == std::vector<std::string>{"bed/train/bed_1.off", "sofa/train/sofa_1.off"});
  REQUIRE(train.remarks.size() == 1);
  CHECK_THAT(train.remarks[0], Catch::Contains("sofa") && Catch::Contains("1 files"));
  CHECK(names(list_folder_tree(folder.path(), Split::test, 5)) == std::vector<std::string>{"bed/test/bed_2.off"});
}

TEST_CASE("folder tree: without split folders every fifth file is test") {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 11; ++i) test::write_text(folder / ("bed/" + std::to_string(10 + i) + ".off"), "");
  test::write_text(folder / "sofa/1.off", "");
  std::filesystem::create_directory(folder / "empty");
  const DatasetListing test = list_folder_tree(folder.path(), Split::test, 5);
  CHECK(names(test) == std::vector<std::string>{"bed/14.off", "bed/19.off"});
  CHECK(test.class_names == std::vector<std::string>{"bed", "sofa"});
  CHECK_THAT(test.remarks.at(0), Catch::Contains("empty"));
  CHECK(list_folder_tree(folder.path(), Split::train, 5).items.size() == 10);
  CHECK(list_folder_tree(folder.path(), Split::train, 0).items.size() == 12);
  CHECK(list_folder_tree(folder.path(), Split::test, 0).items.size() == 12);
  CHECK(list_folder_tree(folder.path(), Split::test, 2).items.size() == 5);
  test::require_error([&] { list_folder_tree(folder.path(), Split::test, -1); }, {"test_every", "-1"});
}

TEST_CASE("folder tree: nothing to read") {
  const test::TemporaryFolder folder;
  test::require_error(
      [&] { list_folder_tree(folder.path(), Split::train, 5); },
      {folder.path().string(), "ScanObjectNN", "ModelNet40", "normal_resampled", ".ply", "none of these"});
  test::write_text(folder / "train/bed/a.off", "");
  test::require_error([&] { list_folder_tree(folder.path(), Split::test, 5); }, {"shapes to test with", "none"});
}

}  // namespace geosft::test::test_folder_tree
