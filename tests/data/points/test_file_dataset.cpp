// SPDX-License-Identifier: Apache-2.0
#include "data/points/file_dataset.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_file_dataset {

namespace {

// Three meshes, a dataset of them, and how many were sampled on opening.
struct Example {
  test::TemporaryFolder folder;
  DatasetListing listing;
  PointDatasetOptions options;
  int64_t sampled = 0;

  Example() {
    listing.class_names = {"x", "y"};
    for (const std::string name : {"a", "b", "c"}) {
      test::write_text(folder / ("data/" + name + ".obj"), test::tetrahedron_obj);
      listing.items.push_back({name, name == "c", folder / ("data/" + name + ".obj"), ""});
    }
    options.points_per_mesh = 50;
    options.cache = folder / "cache";
    options.progress = [this](int64_t done, int64_t total) {
      CHECK(done <= total);
      ++sampled;
    };
  }
  FileDataset open() {
    sampled = 0;
    return FileDataset(listing, options);
  }
};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("meshes are sampled once, each from a seed of its own") {
  Example example;
  const FileDataset first = example.open();
  CHECK(example.sampled == 3);
  CHECK(first.size() == 3);
  CHECK(first.has_normals());
  CHECK(first.file_without_normals().empty());
  CHECK(first.get(2).label == 1);
  CHECK(first.get(1).name == "b");
  CHECK(first.name(1) == "b");
  CHECK_THROWS_AS(first.name(first.size()), std::out_of_range);
  CHECK(first.get(0).points.sizes() == at::IntArrayRef({50, 3}));
  CHECK_FALSE(at::equal(first.get(0).points, first.get(1).points));
  const FileDataset second = example.open();
  CHECK(example.sampled == 0);
  for (int64_t i = 0; i < 3; ++i) test::require_equal(second.get(i).points, first.get(i).points, "cached");
  CHECK_THROWS_AS(first.get(3), std::out_of_range);
}

TEST_CASE("other options, another file or a damaged cache file mean sampling again") {
  Example example;
  const at::Tensor before = example.open().get(0).points;
  SECTION("another number of points") {
    example.options.points_per_mesh = 60;
    CHECK(example.open().get(0).points.size(0) == 60);
    CHECK(example.sampled == 3);
  }
  SECTION("another seed") {
    example.options.seed = 1;
    CHECK_FALSE(at::equal(example.open().get(0).points, before));
  }
  SECTION("another size") {
    test::write_text(example.listing.items[0].file, test::tetrahedron_obj + "# longer\n");
    test::require_equal(example.open().get(0).points, before, "same mesh");
    CHECK(example.sampled == 1);
  }
  SECTION("another time") {
    const auto& file = example.listing.items[0].file;
    std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(5));
    example.open();
    CHECK(example.sampled == 1);
  }
  SECTION("damaged and half-written") {
    const auto files = files_in(example.options.cache);
    std::string contents = test::read_text(files[0]);
    contents[contents.size() / 2] ^= 1;
    test::write_text(files[0], contents);
    test::write_text(files[1], test::read_text(files[1]).substr(0, 100));
    const FileDataset dataset = example.open();
    CHECK(example.sampled == 2);
    test::require_equal(dataset.get(0).points, before, "made again");
    test::write_text(files[0], "damaged later");
    test::write_text(files[1], "");
    std::filesystem::remove(files[2]);
    test::require_equal(dataset.get(0).points, before, "made again on demand");
  }
}

TEST_CASE("without a usable cache folder the samples stay in memory") {
  Example example;
  const at::Tensor cached = example.open().get(1).points;
  example.options.cache = "/proc/no/such/folder";
  const FileDataset dataset = example.open();
  CHECK(example.sampled == 3);
  std::filesystem::remove_all(example.folder / "data");
  test::require_equal(dataset.get(1).points, cached, "in memory");
}

TEST_CASE("a broken or absent item is named when the dataset is opened") {
  Example example;
  test::write_text(example.listing.items[1].file, "v 0 0 0\nf 1 2 3\n");
  test::require_error([&] { example.open(); }, {"b.obj", "corners among the 1 vertices"});
  std::filesystem::remove(example.listing.items[1].file);
  test::require_error([&] { example.open(); }, {"b.obj", "No such file"});
  example.options.points_per_mesh = 0;
  test::require_error([&] { example.open(); }, {"points_per_mesh", "0"});
}

TEST_CASE("columns and points to drop are those of the options, and part of the key of the cache") {
  Example example;
  const auto add = [&](const std::string& text) {
    test::write_text(example.folder / "data/d.xyz", text);
    example.listing.items.assign({{"d", 0, example.folder / "data/d.xyz", ""}});
  };
  add("0 0 0 0 0 1\n1 1 1 0 1 0\nnan 0 0 0 0 1\n");
  test::require_error([&] { example.open(); }, {"d.xyz:3", "--drop-invalid"});
  example.options.drop_invalid = true;
  const FileDataset dropped = example.open();
  CHECK(dropped.get(0).points.size(0) == 2);
  CHECK(dropped.has_normals());
  REQUIRE(dropped.warnings().size() == 2);
  CHECK_THAT(dropped.warnings()[0], Catch::Contains("d.xyz: 1 of its 3 points"));
  CHECK_THAT(dropped.warnings()[1], Catch::Contains("d.xyz: 2 points only, too few to show a form"));
  const FileDataset cached = example.open();
  CHECK(example.sampled == 0);
  CHECK(cached.warnings() == dropped.warnings());
  example.options.columns = "x,y,z,r,g,b";
  CHECK_FALSE(example.open().has_normals());
}

TEST_CASE("each kind of warning is said of its first file, with the number of the others") {
  Example example;
  example.listing.items.clear();
  const std::string coloured = "0 0 0 255 0 0\n1 1 1 0 255 0\n";
  const auto add = [&](const std::string& name, const std::string& text) {
    const auto file = example.folder / ("data/" + name + ".xyz");
    test::write_text(file, text);
    example.listing.items.push_back({name, 0, file, ""});
  };
  add("d", coloured);
  add("e", "0 0 0 0 0 1\n1 1 1 0 1 0\nnan 0 0 0 0 1\n");
  add("f", coloured);
  add("g", coloured + "nan 0 0 9 9 9\n2 1 1 9 9 9\n");
  example.options.drop_invalid = true;
  const std::vector<std::string> warnings = example.open().warnings();
  REQUIRE(warnings.size() == 3);
  CHECK_THAT(warnings[0], Catch::Contains("d.xyz: columns 4 to 6 are taken as colours") &&
                              Catch::EndsWith("; 2 more files have the like"));
  CHECK(warnings[1] == (example.folder / "data/d.xyz").string() +
                           ": 2 points only, too few to show a form; 3 more files have the like");
  CHECK_THAT(warnings[2], Catch::Contains("e.xyz: 1 of its 3 points") && Catch::EndsWith("; 1 more file has the like"));
}

TEST_CASE("clouds that mislead a model of shapes are named") {
  Example example;
  example.listing.items.clear();
  const auto add = [&](const std::string& name, const at::Tensor& points) {
    std::string text;
    for (int64_t row = 0; row < points.size(0); ++row) {
      for (int64_t axis = 0; axis < 3; ++axis) text += std::to_string(points[row][axis].item<double>()) + " ";
      text += "\n";
    }
    test::write_text(example.folder / ("data/" + name + ".xyz"), text);
    example.listing.items.push_back({name, 0, example.folder / ("data/" + name + ".xyz"), ""});
  };
  const at::Tensor usual = at::randn({300, 3}, test::generator(1));
  add("line", usual.slice(1, 0, 1).expand({300, 3}));
  add("usual", usual);
  add("stray", at::cat({usual, at::full({1, 3}, 50.0)}));
  add("lines", usual.slice(1, 1, 2).expand({300, 3}));
  for (const bool cached : {false, true}) {
    CAPTURE(cached);
    const std::vector<std::string> warnings = example.open().warnings();
    REQUIRE(warnings.size() == 2);
    CHECK_THAT(warnings[0],
               Catch::Contains("line.xyz: all of its 300 points lie on one line; 1 more file has the like"));
    CHECK_THAT(warnings[1], Catch::Contains("stray.xyz: 1 of its 301 points lies apart"));
  }
}

TEST_CASE("normals that some points lack are estimated, and that is said where they are used") {
  Example example;
  test::write_text(example.folder / "data/d.xyz", "0 0 0 0 0 1\n1 0 0 0 0 0\n0 1 0 0 0 1\n1 1 0 0 0 1\n");
  example.listing.items.assign({{"d", 0, example.folder / "data/d.xyz", ""}});
  example.options.normals = false;
  REQUIRE(example.open().warnings().size() == 1);
  CHECK_THAT(example.open().warnings()[0], Catch::Contains("4 points only"));
  example.options.normals = true;
  const FileDataset dataset = example.open();
  CHECK(example.sampled == 0);  // the cache keeps what is said of them
  REQUIRE(dataset.warnings().size() == 2);
  CHECK_THAT(dataset.warnings()[1], Catch::Contains("1 of its 4 points has no normal: it is estimated"));
  test::require_close(dataset.get(0).normals.select(1, 2), at::ones({4}), 1e-6, "normals");
}

TEST_CASE("all broken items are named at once, in the order of the dataset") {
  Example example;
  test::write_text(example.listing.items[0].file, "v 0 0 0\nf 1 2 3\n");
  test::write_text(example.listing.items[2].file, "");
  try {
    example.open();
    FAIL("no error");
  } catch (const BrokenFiles& broken) {
    REQUIRE(broken.messages().size() == 2);
    REQUIRE_THAT(broken.messages()[0], Catch::Contains("a.obj"));
    REQUIRE_THAT(broken.messages()[1], Catch::Contains("c.obj") && Catch::Contains("empty file"));
  }
  for (const size_t item : {0, 2}) std::filesystem::remove(example.listing.items[item].file);
  test::require_error([&] { example.open(); }, {"2 broken files: ", "a.obj", "c.obj"});
}

TEST_CASE("one cloud without normals is named, and the others keep theirs") {
  Example example;
  test::write_text(example.folder / "data/d.xyz", "0 0 0\n1 1 1\n");
  example.listing.items.push_back({"d", 0, example.folder / "data/d.xyz", ""});
  for (int round = 0; round < 2; ++round) {
    const FileDataset dataset = example.open();
    CHECK_FALSE(dataset.has_normals());
    CHECK(dataset.file_without_normals() == (example.folder / "data/d.xyz").string());
    CHECK(dataset.get(0).normals.defined());
    CHECK_FALSE(dataset.get(3).normals.defined());
    CHECK(dataset.get(3).points.size(0) == 2);
  }
}

}  // namespace geosft::test::test_file_dataset
