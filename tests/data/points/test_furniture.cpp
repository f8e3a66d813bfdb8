// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/data/points/installed_furniture.h"
#include "tests/support.h"

namespace geosft::test::test_furniture {

TEST_CASE("furniture: what is absent is named with the package") {
  const test::TemporaryFolder folder;
  test::require_error([&] { list_furniture(Split::train, folder.path()); },
                      {"BlendSwap-CC-0.sh3f", "apt-get install sweethome3d-furniture"});
}

TEST_CASE("furniture: the embedded labels") {
  const test::TemporaryFolder folder;
  for (const std::string library : {"BlendSwap-CC-0", "BlendSwap-CC-BY", "KatorLegaz", "Reallusion", "Scopia"}) {
    test::write_text(folder / (library + ".sh3f"), "");
  }
  const DatasetListing train = list_furniture(Split::train, folder.path());
  const DatasetListing test = list_furniture(Split::test, folder.path());
  CHECK(train.items.size() == 301);
  CHECK(test.items.size() == 128);
  CHECK(train.class_names.size() == 17);
  CHECK(train.class_names == test.class_names);
  std::set<std::string> names;
  for (const auto& items : {train.items, test.items}) {
    for (const DatasetItem& item : items) {
      names.insert(item.name);
      CHECK(item.member.ends_with(".obj"));
    }
  }
  CHECK(names.size() == 429);
  CHECK(train.class_names[static_cast<size_t>(test.items[0].label)] == "sofa");
}

TEST_CASE("furniture: the installed models") {
  if (!test::has_furniture()) return;
  const test::TemporaryFolder cache;
  PointDatasetOptions options;
  options.points_per_mesh = 64;
  options.cache = cache.path();
  const auto dataset = open_point_dataset("", Split::test, options);
  CHECK(dataset->size() == 128);
  CHECK(dataset->has_normals());
  for (int64_t i = 0; i < dataset->size(); ++i) {
    const Shape shape = dataset->get(i);
    REQUIRE(shape.points.size(0) == 64);
    REQUIRE(at::isfinite(shape.points).all().item<bool>());
    REQUIRE(at::allclose(shape.normals.norm(2, 1), at::ones({64})));
  }
}

}  // namespace geosft::test::test_furniture
