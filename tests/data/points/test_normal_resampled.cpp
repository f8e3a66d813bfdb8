// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"
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

TEST_CASE("normal_resampled: listed shapes, a class without a folder is a warning") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_normal_resampled(folder.path()));
  write_lists(folder, "bed_0001\r\nnight_stand_0001\r\nsofa_0001\r\nsofa_0002\r\n");
  CHECK(is_normal_resampled(folder.path()));
  const DatasetListing train = list_normal_resampled(folder.path(), Split::train, false);
  REQUIRE(train.items.size() == 2);
  CHECK(train.items[1].name == "night_stand/night_stand_0001");
  CHECK(train.items[1].label == 1);
  CHECK(train.class_names.size() == 3);
  REQUIRE(train.warnings.size() == 1);
  CHECK_THAT(train.warnings[0], Catch::Contains("2 of the 4 shapes") && Catch::Contains("1 classes have no folder"));
  CHECK(list_normal_resampled(folder.path(), Split::test, false).items.size() == 1);
}

TEST_CASE("normal_resampled: columns 4 to 6 are normals, also where some have another length") {
  const test::TemporaryFolder folder, cache;
  write_lists(folder, "bed_0001\n");
  test::write_text(folder / "bed/bed_0001.txt", "0,0,0,0,0,1\n1,0,0,1,1,1\n");
  PointDatasetOptions options;
  options.cache = cache.path();
  const auto clouds = open_point_dataset(folder.path(), Split::train, options);
  REQUIRE(clouds->has_normals());
  test::require_close(clouds->get(0).normals[1], at::full({3}, 1 / std::sqrt(3.0), at::kFloat), 1e-6, "normal");
}

TEST_CASE("normal_resampled: an absent shape is an error that says how to allow it") {
  const test::TemporaryFolder folder;
  write_lists(folder, "bed_0001\nbed_0009\n");
  test::require_error([&] { list_normal_resampled(folder.path(), Split::train, false); },
                      {"bed_0009.txt", "1 of the 2 shapes", "--allow-missing"});
  const DatasetListing train = list_normal_resampled(folder.path(), Split::train, true);
  CHECK(train.items.size() == 1);
  CHECK_THAT(train.warnings.at(0), Catch::Contains("1 of the 2 shapes"));
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

TEST_CASE("normal_resampled: the form in which ModelNet is published, through either list") {
  const test::TemporaryFolder folder;
  const std::vector<std::string> ten = {"bathtub", "bed",         "chair", "desk",  "dresser",
                                        "monitor", "night_stand", "sofa",  "table", "toilet"};
  // A shape of each part and class, of 100 points of six digits; the larger set has two classes more, one of them not
  // unpacked.
  std::string names, forty_train, forty_test, ten_train, ten_test;
  for (const std::string& name : ten) {
    names += name + "\n";
    ten_train += name + "_0001\n";
    ten_test += name + "_0107\n";
    for (const char* number : {"_0001", "_0107"}) {
      std::string lines;
      for (int i = 0; i < 100; ++i) {
        const double z = 1 - 2 * (i + 0.5) / 100, radius = std::sqrt(1 - z * z), angle = 2.399963 * i;
        std::array<char, 80> line{};
        std::snprintf(line.data(), line.size(), "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", 0.5 * radius * std::cos(angle),
                      0.5 * radius * std::sin(angle), 0.5 * z, radius * std::cos(angle), radius * std::sin(angle), z);
        lines += line.data();
      }
      test::write_text(folder / (name + "/" + name + number + ".txt"), lines);
    }
  }
  forty_train = "airplane_0001\n" + ten_train + "xbox_0001\n";
  forty_test = ten_test + "xbox_0107\n";
  test::write_text(folder / "airplane/airplane_0001.txt",
                   "-0.098790,-0.182300,0.163800,0.829000,-0.557200,-0.048180\n");
  test::write_text(folder / "modelnet40_shape_names.txt", "airplane\n" + names + "xbox\n");
  test::write_text(folder / "modelnet40_train.txt", forty_train);
  test::write_text(folder / "modelnet40_test.txt", forty_test);
  test::write_text(folder / "modelnet10_shape_names.txt", names);
  test::write_text(folder / "modelnet10_train.txt", ten_train);
  test::write_text(folder / "modelnet10_test.txt", ten_test);

  const DatasetListing all = list_normal_resampled(folder.path(), Split::train, false);
  CHECK(all.class_names.size() == 12);
  REQUIRE(all.items.size() == 11);
  CHECK(all.items[0].name == "airplane/airplane_0001");
  CHECK_THAT(all.warnings.at(0), Catch::Contains("1 of the 12 shapes") && Catch::Contains("1 classes have no folder"));
  REQUIRE(all.warnings.size() == 2);
  CHECK_THAT(all.warnings[1], Catch::Contains("ModelNet40 is taken") && Catch::Contains("modelnet10_train.txt"));
  for (const char* list : {"modelnet10_test.txt", "modelnet10_train.txt", "modelnet10_shape_names.txt"}) {
    const DatasetListing few = list_normal_resampled(folder / list, Split::test, false);
    CHECK(few.class_names == ten);
    REQUIRE(few.items.size() == 10);
    CHECK(few.items[6].name == "night_stand/night_stand_0107");
    CHECK(few.items[6].label == 6);
    CHECK(few.warnings.empty());
  }
  const Shape shape = read_shape(folder / "bathtub/bathtub_0001.txt");
  REQUIRE(shape.points.sizes() == at::IntArrayRef({100, 3}));
  CHECK(at::allclose(shape.normals, 2 * shape.points, 0, 2e-6));
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
