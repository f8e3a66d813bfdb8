// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_folder_tree {

namespace {

std::vector<std::string> names(const DatasetListing& listing) {
  std::vector<std::string> found;
  for (const DatasetItem& item : listing.items) found.push_back(item.name);
  return found;
}

void write_empty(const test::TemporaryFolder& folder, const std::vector<std::string>& files) {
  for (const std::string& file : files) test::write_text(folder / file, "");
}

}  // namespace

TEST_CASE("folder tree: split folders above the classes") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"train/chair/b.off", "train/chair/a.OBJ", "train/bed/a.ply", "test/sofa/x.stl", "test/bed/a.xyz",
                       "train/chair/a.mtl", "train/.hidden/a.ply", "train/chair/.b.off"});
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
  write_empty(folder, {"bed/train/bed_1.off", "bed/test/bed_2.off", "sofa/train/sofa_1.off", "sofa/extra.off"});
  const DatasetListing train = list_folder_tree(folder.path(), Split::train, 5);
  CHECK(names(train) == std::vector<std::string>{"bed/train/bed_1.off", "sofa/train/sofa_1.off"});
  REQUIRE(train.warnings.size() == 1);
  CHECK_THAT(train.warnings[0], Catch::Contains("sofa") && Catch::Contains("1 file beside"));
  CHECK(names(list_folder_tree(folder.path(), Split::test, 5)) == std::vector<std::string>{"bed/test/bed_2.off"});
}

TEST_CASE("folder tree: without split folders a fifth of the files is test, by hash or by name") {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 11; ++i) test::write_text(folder / ("bed/" + std::to_string(10 + i) + ".off"), "");
  test::write_text(folder / "sofa/1.off", "");
  std::filesystem::create_directory(folder / "empty");
  const DatasetListing test = list_folder_tree(folder.path(), Split::test, 5, SplitOrder::name);
  CHECK(names(test) == std::vector<std::string>{"bed/14.off", "bed/19.off"});
  CHECK(test.class_names == std::vector<std::string>{"bed", "sofa"});
  CHECK_THAT(test.warnings.at(0), Catch::Contains("empty"));
  CHECK(list_folder_tree(folder.path(), Split::train, 5).items.size() == 10);
  CHECK(list_folder_tree(folder.path(), Split::train, 0).items.size() == 12);
  CHECK(list_folder_tree(folder.path(), Split::test, 0).items.size() == 12);
  CHECK(list_folder_tree(folder.path(), Split::test, 2).items.size() == 5);
  test::require_error([&] { list_folder_tree(folder.path(), Split::test, -1); }, {"test_every", "-1"});
}

TEST_CASE("folder tree: the hashed split is fixed, ignores formats, and an added file moves at most one other") {
  const test::TemporaryFolder folder;
  const auto tests = [&] {
    std::set<std::string> stems;
    for (const std::string& name : names(list_folder_tree(folder.path(), Split::test, 5))) {
      stems.insert(name.substr(0, name.find('.')));
    }
    return stems;
  };
  for (int i = 0; i < 40; ++i) {
    test::write_text(folder / ("bed/scan_" + std::to_string(100 + i) + (i % 5 == 4 ? ".ply" : ".off")), "");
  }
  const std::set<std::string> before = tests();
  REQUIRE(before.size() == 8);
  // The test set is not every fifth name, which would be all of one format.
  size_t ply = 0;
  for (const DatasetItem& item : list_folder_tree(folder.path(), Split::test, 5).items) {
    ply += item.file.extension() == ".ply" ? 1 : 0;
  }
  CHECK(ply < 8);
  std::filesystem::rename(folder / "bed/scan_100.off", folder / "bed/scan_100.ply.gz");
  CHECK(tests() == before);
  for (int i = 0; i < 12; ++i) {
    const std::set<std::string> known = tests();
    test::write_text(folder / ("bed/a_" + std::to_string(i) + ".off"), "");
    const std::set<std::string> now = tests();
    size_t moved = 0;
    for (const std::string& name : known) moved += now.contains(name) ? 0 : 1;
    CHECK(moved <= 1);
  }
}

TEST_CASE("folder tree: the RUN of a training beside the classes is none") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/1.off", "mine/config.toml", "mine/classes.txt", "sofa/1.off"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  CHECK(listing.class_names == std::vector<std::string>{"bed", "sofa"});
  REQUIRE(listing.warnings.size() == 1);
  CHECK_THAT(listing.warnings[0], Catch::Contains("mine: no class, but a RUN, so it is left out"));
}

TEST_CASE("folder tree: folders whose names begin with an underscore are no classes") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/1.off", "_broken/1.off", "sofa/1.off"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  CHECK(listing.class_names == std::vector<std::string>{"bed", "sofa"});
  REQUIRE(listing.warnings.size() == 1);
  CHECK_THAT(listing.warnings[0], Catch::Contains("_broken: no class"));
  const test::TemporaryFolder split;
  write_empty(split, {"train/bed/1.off", "train/_old/1.off", "train/sofa/1.off", "test/bed/2.off"});
  std::filesystem::create_directory(split / "train/empty");
  const DatasetListing test = list_folder_tree(split.path(), Split::test, 0);
  CHECK(test.class_names == std::vector<std::string>{"bed", "sofa"});
  CHECK_THAT(test.warnings,
             Catch::VectorContains((split / "train/empty").string() + ": no class, for it holds no shape file"));
  CHECK(test.warnings.back() == split.path().string() + ": 1 of 2 classes has no shape to test with: sofa");
}

TEST_CASE("folder tree: shapes beside each other in no class folder are counted, and the layouts named") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"b.ply", "a.ply", "notes.md"});
  test::require_error([&] { list_folder_tree(folder.path(), Split::train, 5); },
                      {"2 files with shapes in no class folder, such as a.ply", "folders must be CLASS/FILE"});
  write_empty(folder, {"bed/1.off"});
  CHECK(list_folder_tree(folder.path(), Split::train, 0).warnings.front() ==
        folder.path().string() + ": 2 files in no class folder are left out, such as a.ply");
  std::filesystem::remove(folder / "b.ply");
  CHECK(list_folder_tree(folder.path(), Split::train, 0).warnings.front() ==
        folder.path().string() + ": 1 file in no class folder is left out: a.ply");
}

TEST_CASE("folder tree: what is passed by is counted in one line") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/1.off", "bed/2.off", "bed/nested/3.off", "bed/nested/deeper/4.ply", "bed/model.fbx",
                       "bed/more.h5", "sofa/1.off", "sofa/2.FBX", "bed/README", "labels.json", "bed/.hidden"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  CHECK(names(listing) == std::vector<std::string>{"bed/1.off", "bed/2.off", "sofa/1.off"});
  CHECK(listing.warnings == std::vector<std::string>{
                                folder.path().string() +
                                ": left out: 2 shape files in folders below their class (such as bed/nested/3.off), "
                                "1 file without an extension, 1 file *.FBX, 1 file *.fbx, 1 file *.h5, 1 file *.json"});
}

TEST_CASE("folder tree: .bin files are laser scans, but the buffers of .gltf files beside them") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/1.gltf", "bed/1.bin", "car/1.bin", "car/2.ply.gz", "car/3.CSV"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  REQUIRE(names(listing) == std::vector<std::string>({"bed/1.gltf", "car/1.bin", "car/2.ply.gz", "car/3.CSV"}));
  REQUIRE(listing.warnings.size() == 1);
  CHECK_THAT(listing.warnings[0], Catch::EndsWith("left out: 1 file *.bin"));
}

TEST_CASE("folder tree: labels of the parts of a mesh are no cloud") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/1.off", "bed/1_labels.txt", "car/1.xyz", "car/2_labels.txt"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  CHECK(names(listing) == std::vector<std::string>({"bed/1.off", "car/1.xyz", "car/2_labels.txt"}));
  REQUIRE(listing.warnings.size() == 1);
  CHECK_THAT(listing.warnings[0], Catch::EndsWith("left out: 1 file *.txt"));
}

TEST_CASE("folder tree: what is passed by beside and below split folders") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/train/1.off", "bed/test/2.off", "bed/test/old/3.off", "bed/more/4.off", "bed/train/1.mtl"});
  std::filesystem::create_symlink("..", folder / "bed/test/up");
  const DatasetListing listing = list_folder_tree(folder.path(), Split::test, 0);
  CHECK(names(listing) == std::vector<std::string>{"bed/test/2.off"});
  REQUIRE(listing.warnings.size() == 1);
  CHECK_THAT(listing.warnings[0], Catch::Contains("2 shape files in folders below their class") &&
                                      Catch::Contains("1 link to folders below a class") &&
                                      Catch::Contains("1 file *.mtl"));
}

TEST_CASE("folder tree: what bears the name of a shape or a class and cannot be read is an error") {
  namespace fs = std::filesystem;
  const test::TemporaryFolder folder;
  test::write_text(folder / "bed/1.off", "");
  const auto refused = [&](const std::string& name, const std::vector<std::string>& words) {
    test::require_error([&] { list_folder_tree(folder.path(), Split::train, 0); }, words);
    fs::remove(folder / name);
    CHECK(list_folder_tree(folder.path(), Split::train, 0).items.size() == 1);
  };
  fs::create_symlink("nowhere.off", folder / "bed/broken.off");
  refused("bed/broken.off", {(folder / "bed/broken.off").string(), "a link to nothing"});
  fs::create_symlink("round.off", folder / "bed/round.off");
  refused("bed/round.off", {(folder / "bed/round.off").string(), "symbolic links"});
  fs::create_symlink("nowhere", folder / "sofa");
  refused("sofa", {(folder / "sofa").string(), "a link to nothing"});
  fs::create_symlink("/dev/null", folder / "bed/2.off");
  refused("bed/2.off", {(folder / "bed/2.off").string(), "something else"});
  // Links to what is there are as good as that.
  fs::create_symlink("1.off", folder / "bed/3.off");
  fs::create_symlink("bed", folder / "sofa");
  CHECK(names(list_folder_tree(folder.path(), Split::train, 0)) ==
        std::vector<std::string>{"bed/1.off", "bed/3.off", "sofa/1.off", "sofa/3.off"});
}

TEST_CASE("folder tree: split folders in any case") {
  const test::TemporaryFolder above, below;
  for (const std::string file : {"Train/bed/1.off", "TEST/bed/2.off"}) test::write_text(above / file, "");
  for (const std::string file : {"bed/TRAIN/1.off", "bed/Test/2.off"}) test::write_text(below / file, "");
  REQUIRE(names(list_folder_tree(above.path(), Split::train, 5)) == std::vector<std::string>{"Train/bed/1.off"});
  REQUIRE(names(list_folder_tree(above.path(), Split::test, 5)) == std::vector<std::string>{"TEST/bed/2.off"});
  REQUIRE(names(list_folder_tree(below.path(), Split::train, 5)) == std::vector<std::string>{"bed/TRAIN/1.off"});
  const DatasetListing test = list_folder_tree(below.path(), Split::test, 5);
  REQUIRE(names(test) == std::vector<std::string>{"bed/Test/2.off"});
  REQUIRE(test.warnings.empty());
}

TEST_CASE("folder tree: a folder for each shape, as in ShapeNetCore") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"02691156/1a/models/model_normalized.obj", "02691156/1a/models/model_normalized.mtl",
                       "02691156/1b/models/model_normalized.obj", "02691156/1b/screenshots/1.png",
                       "02828884/2a/model.obj", "02828884/2b/other/x.obj"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  REQUIRE(listing.class_names == std::vector<std::string>{"02691156", "02828884"});
  REQUIRE(names(listing) == std::vector<std::string>{"02691156/1a/models/model_normalized.obj",
                                                     "02691156/1b/models/model_normalized.obj",
                                                     "02828884/2a/model.obj"});
  REQUIRE(listing.warnings.size() == 1);
  REQUIRE_THAT(listing.warnings[0], Catch::Contains("1 shape file in folders below their class"));
}

TEST_CASE("folder tree: shapes in other places are found, and the layouts named") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"ModelNet10/bed/train/1.off", "ModelNet10/bed/test/2.off"});
  test::require_error(
      [&] { list_folder_tree(folder.path(), Split::train, 5); },
      {"2 shape files in other places, such as ModelNet10/bed/", "CLASS/train/FILE", "ID/models/model"});
}

TEST_CASE("folder tree: of several formats of a shape one is taken, which is said") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/a.obj", "bed/a.OFF", "bed/a.txt", "bed/b.xyz", "sofa/c.ply", "sofa/c.xyz"});
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  REQUIRE(names(listing) == std::vector<std::string>{"bed/a.OFF", "bed/b.xyz", "sofa/c.ply"});
  REQUIRE(listing.warnings ==
          std::vector<std::string>{folder.path().string() +
                                   ": 3 files are other formats of a shape, and left out: taken is bed/a.OFF, not "
                                   "a.obj, and so on"});
}

TEST_CASE("folder tree: a packed file beside the same one unpacked is one shape, and a mesh goes before a cloud") {
  const test::TemporaryFolder folder;
  for (const std::string file : {"bed/a.ply", "bed/a.PLY.gz", "bed/b.obj.gz", "bed/b.xyz", "bed/c.glb", "bed/c.npy"}) {
    test::write_text(folder / file, "");
  }
  const DatasetListing listing = list_folder_tree(folder.path(), Split::train, 0);
  REQUIRE(names(listing) == std::vector<std::string>{"bed/a.ply", "bed/b.obj.gz", "bed/c.glb"});
  REQUIRE(listing.warnings.size() == 1);
}

TEST_CASE("folder tree: classes without a shape in a split are named") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"train/bed/1.off", "train/sofa/1.off", "train/desk/1.off", "test/bed/2.off", "test/lamp/2.off"});
  REQUIRE(list_folder_tree(folder.path(), Split::train, 5).warnings ==
          std::vector<std::string>{folder.path().string() + ": 1 of 4 classes has no shape to train with: lamp"});
  REQUIRE(list_folder_tree(folder.path(), Split::test, 5).warnings ==
          std::vector<std::string>{folder.path().string() + ": 2 of 4 classes have no shape to test with: desk, sofa"});
  const test::TemporaryFolder flat;
  write_empty(flat, {"bed/1.off", "bed/2.off", "mug/1.off"});
  CHECK(list_folder_tree(flat.path(), Split::test, 2).warnings ==
        std::vector<std::string>{flat.path().string() +
                                 ": 1 of 2 classes has no shape to test with: mug (one in 2 files " +
                                 "is for testing: a class needs 2 of them)"});
  const test::TemporaryFolder own;
  write_empty(own, {"bed/train/1.off", "bed/test/2.off", "mug/train/1.off"});
  CHECK(list_folder_tree(own.path(), Split::test, 2).warnings ==
        std::vector<std::string>{own.path().string() + ": 1 of 2 classes has no shape to test with: mug"});
  const test::TemporaryFolder cases;
  write_empty(cases, {"train/bed/1.off", "train/mug/1.off", "test/bed/2.off", "test/Mug/2.off"});
  for (const Split split : {Split::train, Split::test}) {
    const std::vector<std::string> warnings = list_folder_tree(cases.path(), split, 5).warnings;
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0] == cases.path().string() + ": Mug and mug differ in case, and are two classes");
  }
}

TEST_CASE("folder tree: nothing to read") {
  const test::TemporaryFolder folder;
  test::require_error(
      [&] { list_folder_tree(folder.path(), Split::train, 5); },
      {folder.path().string(), "ScanObjectNN", "ModelNet40", "normal_resampled", ".ply", "none of these"});
  std::filesystem::create_directories(folder / "bed");
  std::filesystem::create_directories(folder / "sofa");
  test::require_error([&] { list_folder_tree(folder.path(), Split::train, 5); },
                      {"folders without a shape file, such as " + (folder / "bed").string()});
  test::write_text(folder / "train/bed/a.off", "");
  test::require_error([&] { list_folder_tree(folder.path(), Split::test, 5); }, {"shapes to test with", "none"});
  test::write_text(folder / "train/bowl /a.off", "");
  test::require_error([&] { list_folder_tree(folder.path(), Split::train, 5); },
                      {(folder / "train/bowl ").string(), "without blanks around it", "\"bowl \""});
}

TEST_CASE("folder tree: classes with too few files for a test split name the option that splits them") {
  const test::TemporaryFolder folder;
  write_empty(folder, {"bed/a.off", "bed/b.off", "bed/c.off", "sofa/a.off"});
  CHECK(list_folder_tree(folder.path(), Split::train, 5).items.size() == 4);
  test::require_error([&] { list_folder_tree(folder.path(), Split::test, 5); },
                      {"shapes to test with", "at most 3 files per class", "one in 5", "--test-every 3"});
  CHECK(list_folder_tree(folder.path(), Split::test, 3).items.size() == 1);
  test::require_error([&] { list_folder_tree(folder.path(), Split::train, 1); },
                      {"shapes to train with", "--test-every 1 takes all of them for testing"});
}

}  // namespace geosft::test::test_folder_tree
