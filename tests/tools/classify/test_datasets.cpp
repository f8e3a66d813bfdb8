// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/datasets.h"

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/captured_stderr.h"

namespace geosft::test::test_datasets {

namespace {

// A folder for data and cache.
struct Place {
  TemporaryFolder folder;
  EnvironmentVariable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  ClassifySettings settings;

  Place() { settings.data = (folder / "data").string(); }
};

}  // namespace

TEST_CASE("the settings decide what is opened") {
  Place place;
  write_tiny_dataset(place.settings.data);
  place.settings.clouds.points_per_mesh = 30;
  const CapturedStderr quiet;
  const auto train = open_dataset(place.settings, Split::train), test = open_dataset(place.settings, Split::test);
  CHECK(train->size() == 15);
  CHECK(test->size() == 6);
  CHECK(train->class_names() == std::vector<std::string>{"cube", "sphere", "tetrahedron"});
  CHECK(train->get(0).points.size(0) == 30);
  std::filesystem::rename(place.folder / "data/train", place.folder / "alone");
  place.settings.data = (place.folder / "alone").string();
  place.settings.clouds.test_every = 2;
  CHECK(open_dataset(place.settings, Split::test)->size() == 3 * 2);
  place.settings.clouds.test_every = 0;
  CHECK(open_dataset(place.settings, Split::test)->size() == 15);
}

TEST_CASE("sampling meshes is shown, and done once") {
  Place place;
  write_tiny_dataset(place.settings.data);
  for (const bool first : {true, false}) {
    const CapturedStderr shown;
    open_dataset(place.settings, Split::test);
    INFO(shown.text());
    CHECK((shown.text().find("6/6") != std::string::npos) == first);
    CHECK(shown.text().empty() == !first);
  }
}

TEST_CASE("what a dataset leaves out is said") {
  Place place;
  write_text(place.folder / "data/modelnet40_shape_names.txt", "bed\nsofa\n");
  write_text(place.folder / "data/modelnet40_train.txt", "bed_0001\nbed_0002\nsofa_0001\n");
  write_text(place.folder / "data/bed/bed_0001.txt", "0,0,0,0,0,1\n");
  require_error([&] { open_dataset(place.settings, Split::train); }, {"bed_0002", "allow_missing"});
  place.settings.clouds.allow_missing = true;
  const CapturedStderr shown;
  CHECK(open_dataset(place.settings, Split::train)->size() == 1);
  CHECK_THAT(shown.text(), Catch::Contains("1 of the 3 shapes") && Catch::EndsWith("\n"));
}

}  // namespace geosft::test::test_datasets
