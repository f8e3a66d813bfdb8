// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/shape_folders.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "data/data_error.h"
#include "tests/data/points/part_files.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"

namespace geosft::test::test_shape_folders {
namespace {

// The tiny dataset, two files of which are broken: one to train with, one to test with.
struct Place {
  TemporaryFolder folder;
  PointDatasetOptions options;

  Place() {
    write_tiny_dataset(folder / "data");
    write_text(folder / "data/train/cube/cube_1.off", "OFF\n");
    write_text(folder / "data/test/sphere/sphere_5.xyz", "");
    options.points_per_mesh = 30;
    options.cache = folder / "cache";
  }
  std::filesystem::path data() const { return folder / "data"; }
};

}  // namespace

TEST_CASE("broken files are left out of a dataset, and each is named") {
  Place place;
  CHECK_THROWS_AS(open_point_dataset(place.data(), Split::train, place.options), BrokenFiles);
  const auto train = open_readable_shapes(place.data(), Split::train, place.options);
  CHECK(train->size() == 14);
  CHECK(train->class_names().size() == 3);
  const std::vector<std::string> broken = broken_files(train->warnings());
  REQUIRE(broken.size() == 1);
  CHECK_THAT(broken[0], Catch::StartsWith((place.data() / "train/cube/cube_1.off").string() + ":1: expected"));
  for (int64_t row = 0; row < train->size(); ++row) CHECK(train->get(row).points.size(0) >= 30);
  CHECK(open_readable_shapes(place.data(), Split::test, place.options)->size() == 5);
  CHECK(broken_files_text(0).empty());
  CHECK(broken_files_text(1) == "1 broken file is left out");
  CHECK(broken_files_text(2) == "2 broken files are left out");
}

TEST_CASE("the samples of the files that can be read are those of a dataset without the others") {
  Place place;
  const auto some = open_readable_shapes(place.data(), Split::train, place.options);
  std::filesystem::remove(place.data() / "train/cube/cube_1.off");
  place.options.cache = place.folder / "other_cache";
  const auto all = open_point_dataset(place.data(), Split::train, place.options);
  REQUIRE(all->size() == some->size());
  for (int64_t row = 0; row < all->size(); ++row) {
    require_equal(some->get(row).points, all->get(row).points, "points");
    CHECK(some->label(row) == all->label(row));
  }
  CHECK(broken_files(open_readable_shapes(place.data(), Split::train, place.options)->warnings()).empty());
}

TEST_CASE("which files of a folder without a split are its test set is said; of other data nothing is") {
  Place place;
  CHECK(split_rule_note(place.data(), place.options).empty());
  const std::string flat = (place.data() / "train").string(), begin = flat + " has no folders train and test: ";
  CHECK(split_rule_note(flat, place.options) ==
        begin + "3 of its 15 files, one in 5 of each class, are its test set (--test-every 0: all)");
  place.options.test_every = 0;
  CHECK(split_rule_note(flat, place.options) == begin + "each split has all of its 15 files");
  CHECK(split_rule_note("furniture", place.options).empty());
  CHECK(split_rule_note(place.folder / "absent", place.options).empty());
}

TEST_CASE("a class whose files are all broken is named, and where none can be read the errors are") {
  Place place;
  for (int i = 0; i < 5; ++i) {
    write_text(place.data() / ("train/cube/cube_" + std::to_string(i) + ".off"), "OFF\n");
  }
  const auto train = open_readable_shapes(place.data(), Split::train, place.options);
  CHECK(train->size() == 10);
  CHECK(train->warnings().back() == "all files of the class cube are broken");
  CHECK(broken_files(train->warnings()).size() == 5);
  std::filesystem::remove_all(place.data() / "train/sphere");
  std::filesystem::remove_all(place.data() / "train/tetrahedron");
  require_error([&] { open_readable_shapes(place.data(), Split::train, place.options); },
                {"5 broken files", "cube_4.off"});
}

TEST_CASE("a check reads every file once, and names the broken ones and what others lack") {
  Place place;
  write_text(place.data() / "train/cube/holes.xyz", "0 0 0 0 0 1\nnan 0 0 0 0 1\n1 0 0 0 0 1\n");
  ShapeFilesCheck check = check_shape_files(place.data(), place.options);
  CHECK(check.count == 22);
  REQUIRE(check.broken.size() == 3);
  CHECK_THAT(check.broken[0], Catch::Contains("sphere_5.xyz"));
  CHECK_THAT(check.broken[1], Catch::Contains("cube_1.off"));
  CHECK_THAT(check.broken[2], Catch::Contains("holes.xyz"));
  place.options.drop_invalid = true;
  check = check_shape_files(place.data(), place.options);
  CHECK(check.broken.size() == 2);
  REQUIRE(check.warnings.size() == 2);
  CHECK_THAT(check.warnings[0], Catch::Contains("holes.xyz") && Catch::Contains("1 of its 3 points"));
  CHECK_THAT(check.warnings[1], Catch::Contains("holes.xyz: 2 points only, too few to show a form"));
  // Files of both splits are read once.
  const TemporaryFolder both;
  write_text(both / "a/1.off", cube_off(1.0));
  write_text(both / "a/2.off", cube_off(2.0));
  place.options.test_every = 0;
  CHECK(check_shape_files(both.path(), place.options).count == 2);
}

TEST_CASE("a check of arrays looks at their clouds, and tells those that are in both splits") {
  const TemporaryFolder folder;
  write_part_set(folder.path(), 6, 4);
  ShapeFilesCheck check = check_shape_files(folder.path(), {});
  CHECK((check.count == 10 && std::string(check.items) == "clouds" && check.broken.empty()));
  CHECK(check.warnings.empty());
  PartClouds clouds(3, 64, 1);  // two of these are among those to train with
  clouds.points[2].fill_(1.0);
  write_hdf5(folder / "ply_data_test0.h5", clouds.arrays());
  check = check_shape_files(folder.path(), {});
  REQUIRE(check.warnings.size() == 2);
  CHECK_THAT(check.warnings[0], Catch::StartsWith(folder.path().string() + " (test): ") &&
                                    Catch::EndsWith(": all of its 64 points are equal"));
  CHECK_THAT(check.warnings[1],
             Catch::EndsWith(": 2 of the 3 clouds to test with have the coordinates of one to train with"));
  std::filesystem::remove(folder / "ply_data_test0.h5");
  CHECK(check_shape_files(folder.path(), {}).count == 6);
}

TEST_CASE("a check says where the normals of files point inward or do not fit") {
  const auto warnings = [](int inward, int misfit = 0) {
    const TemporaryFolder folder;
    for (int file = 0; file < 5; ++file) {
      std::string text;
      for (int step = 0; step < 300; ++step) {
        const double z = (step + 0.5) / 150 - 1, turn = 2.4 * step + 0.1 * file, r = std::sqrt(1 - z * z);
        const double sign = file < inward ? -1 : 1;
        for (const double value : {r * std::cos(turn), r * std::sin(turn), z}) text += std::to_string(value) + " ";
        if (file < misfit) {
          text += "0.6 0 0.8";
        } else {
          for (const double value : {r * std::cos(turn), r * std::sin(turn), z})
            text += std::to_string(sign * value) + " ";
        }
        text += "\n";
      }
      write_text(folder / ("a/" + std::to_string(file) + ".xyz"), text);
    }
    std::string all;
    for (const std::string& one : check_shape_files(folder.path(), PointDatasetOptions()).warnings) all += one + "\n";
    return all;
  };
  CHECK_THAT(warnings(3), Catch::Contains(": the normals of 3 of 5 files point inward on the whole (first: ") &&
                              Catch::Contains("/a/0.xyz)\n"));
  CHECK_THAT(warnings(2), !Catch::Contains("inward"));
  CHECK_THAT(warnings(5, 3), Catch::Contains(": the normals of 3 of 5 files do not fit their points (first: ") &&
                                 !Catch::Contains("inward") && !Catch::Contains("its points"));
  CHECK_THAT(warnings(0, 2), Catch::Contains(": the normals of 2 of 5 files do not fit their points (first: ") &&
                                 Catch::Contains("/a/0.xyz: its normals do not fit its points\n") &&
                                 Catch::Contains("/a/1.xyz: its normals do not fit its points\n"));
  CHECK_THAT(warnings(0, 1),
             !Catch::Contains("their points") && Catch::Contains("/a/0.xyz: its normals do not fit its points\n"));
  CHECK_THAT(warnings(0), !Catch::Contains("fit"));
}

TEST_CASE("a check names files with the bytes of another one, in any folder") {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.off", "train/b/2.off", "test/b/3.off", "test/b/4.off"}) {
    write_text(folder / name, cube_off(name == std::string("test/b/4.off") ? 2.0 : 1.0));
  }
  write_text(folder / "test/a/5.off", "OFF\n");
  write_text(folder / "test/a/6.off", "OFF\n");  // broken files are no copies
  const ShapeFilesCheck check = check_shape_files(folder.path(), PointDatasetOptions());
  CHECK(check.broken.size() == 2);
  const std::string first = (folder / "test/b/3.off").string();  // in the order of paths
  const std::string tests = "; one of them is trained on, the other tests the model";
  CHECK(check.warnings ==
        std::vector<std::string>{
            (folder / "train/a/1.off").string() + ": a copy of " + first + ", which is of the class b" + tests,
            (folder / "train/b/2.off").string() + ": a copy of " + first + tests});
  write_text(folder / "test/b/7.off", cube_off(2.0));
  CHECK_THAT(check_shape_files(folder.path(), PointDatasetOptions()).warnings.at(0),
             Catch::EndsWith("7.off: a copy of " + (folder / "test/b/4.off").string()));
}

TEST_CASE("what a check of files finds odd is what a training says") {
  const TemporaryFolder folder;
  const auto row_of_points = [](int count) {
    std::string text;
    for (int point = 0; point < count; ++point) text += "0.5 0.25 " + std::to_string(point) + "\n";
    return text;
  };
  write_text(folder / "a/few.xyz", row_of_points(15));
  write_text(folder / "a/line.xyz", row_of_points(16));
  const ShapeFilesCheck check = check_shape_files(folder.path(), PointDatasetOptions());
  CHECK(check.warnings ==
        std::vector<std::string>{(folder / "a/few.xyz").string() + ": 15 points only, too few to show a form",
                                 (folder / "a/line.xyz").string() + ": all of its 16 points lie on one line"});
}

}  // namespace geosft::test::test_shape_folders
