// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape_cache.h"

#include <catch2/catch.hpp>

#include "tests/data/damaged_cache.h"
#include "tests/support.h"

namespace geosft::test::test_shape_cache {

namespace {

SampledShape example() {
  return {{at::randn({4, 3}, test::generator(1)), at::randn({4, 3}, test::generator(2)), -1, ""}};
}

}  // namespace

TEST_CASE("the shape cache gives back what was stored under the same key") {
  const test::TemporaryFolder folder;
  const ShapeCache cache(folder / "deep/er");
  CHECK_FALSE(cache.load("chair", "key"));
  REQUIRE(cache.store("chair", "key", example()));
  const auto sampled = cache.load("chair", "key");
  REQUIRE(sampled);
  test::require_equal(sampled->shape.points, example().shape.points, "points");
  test::require_equal(sampled->shape.normals, example().shape.normals, "normals");
  CHECK((sampled->warnings.empty() && sampled->missing_normals == 0));
  CHECK_FALSE(cache.load("chair", "another key"));
  CHECK_FALSE(cache.load("table", "key"));
  REQUIRE(cache.store("cloud", "key", {{example().shape.points, {}, -1, ""}, {"one", "another, of it"}, 3}));
  const auto cloud = cache.load("cloud", "key");
  CHECK_FALSE(cloud->shape.normals.defined());
  CHECK_FALSE(cloud->shape.offset.defined());
  CHECK_FALSE(cloud->shape.from_mesh);
  CHECK(cloud->warnings == std::vector<std::string>{"one", "another, of it"});
  CHECK(cloud->missing_normals == 3);
  SampledShape far = example();
  far.shape.offset = at::tensor({1e6, 2.5, -3.0}, at::kDouble);
  REQUIRE(cache.store("far", "key", far));
  test::require_equal(cache.load("far", "key")->shape.offset, far.shape.offset, "offset");
  SampledShape of_mesh = example();
  of_mesh.shape.from_mesh = true;
  REQUIRE(cache.store("mesh", "key", of_mesh));
  CHECK(cache.load("mesh", "key")->shape.from_mesh);
  far.shape.offset = at::ones({2}, at::kDouble);
  REQUIRE(cache.store("far", "key", far));
  CHECK_FALSE(cache.load("far", "key"));
}

TEST_CASE("a damaged or half-written cache file counts as absent and can be replaced") {
  require_damage_is_absence<ShapeCache>(example(), [](std::string whole) {
    whole[whole.size() / 2] ^= 4;
    return whole;
  });
}

TEST_CASE("a cache that cannot be written to says so") {
  require_unwritable_is_said<ShapeCache>(example());
}

TEST_CASE("a cached shape that is no cloud counts as absent") {
  const test::TemporaryFolder folder;
  const ShapeCache cache(folder.path());
  const at::Tensor rows = at::ones({4, 3});
  for (const Shape& bad : {Shape{at::ones({4, 2}), {}, -1, ""}, Shape{at::ones({0, 3}), {}, -1, ""},
                           Shape{rows.to(at::kLong), {}, -1, ""}, Shape{at::ones({3}), {}, -1, ""},
                           Shape{rows, at::ones({5, 3}), -1, ""}, Shape{rows, rows.to(at::kHalf), -1, ""}}) {
    REQUIRE(cache.store("chair", "key", {bad}));
    CHECK_FALSE(cache.load("chair", "key"));
  }
}

}  // namespace geosft::test::test_shape_cache
