// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch.hpp>

#include "data/sequences/sequence_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_patches {

TEST_CASE("images become squares of their pixels, row by row", "[patches]") {
  PackedItems images = packed_sequences(at::tensor({0, 8, 16}, at::kLong), at::tensor({1, 0}, at::kLong), {"a", "b"});
  images.node_values = at::arange(32, at::kFloat).view({16, 2});
  images.schema.node_values = 2;
  images.schema.grid_height = 2;
  images.schema.grid_width = 4;
  images.split = DatasetSplit{{0}, {}, {1}};
  check_packed_items(images, "images");
  const PackedItems patches = image_patches(images, 2);
  check_packed_items(patches, "patches");
  CHECK(patches.schema.grid_height == 1);
  CHECK(patches.schema.grid_width == 2);
  CHECK(patches.schema.items == "sequences");
  CHECK(patches.split->test == std::vector<int64_t>{1});
  require_equal(patches.graphs.ptr, at::tensor({0, 2, 4}, at::kLong), "ptr");
  require_equal(patches.node_values[1], at::tensor({4, 5, 6, 7, 12, 13, 14, 15}, at::kFloat), "second square");
  require_equal(patches.node_values[2], at::tensor({16, 17, 18, 19, 24, 25, 26, 27}, at::kFloat), "second image");
  require_equal(image_patches(images, 1).node_values, images.node_values, "pixels");
  require_error([&] { image_patches(images, 4); }, {"side", "2 and 4", "4"});
  images.schema.grid_height = 0;
  require_error([&] { image_patches(images, 2); }, {"images", "grid"});
}

TEST_CASE("series become patches of their steps, the last step repeated", "[patches]") {
  PackedItems series =
      packed_sequences(at::tensor({0, 5, 6, 10}, at::kLong), at::tensor({1, 0, 1}, at::kLong), {"a", "b"});
  series.node_values = at::arange(20, at::kFloat).view({10, 2});
  series.schema.node_values = 2;
  series.split = DatasetSplit{{0, 1}, {}, {2}};
  check_packed_items(series, "series");
  PackedItems targeted = series;
  targeted.schema.task = GraphTask::regression;
  REQUIRE(series_patches(targeted, 2).schema.task == GraphTask::regression);
  const PackedItems patches = series_patches(series, 2);
  check_packed_items(patches, "patches");
  CHECK(patches.schema.node_values == 4);
  CHECK(patches.schema.items == "sequences");
  CHECK(patches.split->test == std::vector<int64_t>{2});
  require_equal(patches.graphs.ptr, at::tensor({0, 3, 4, 6}, at::kLong), "ptr");
  require_equal(patches.target, series.target, "classes");
  require_equal(
      patches.node_values,
      at::tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, at::kFloat)
          .view({6, 4}),
      "values");
  require_equal(series_patches(series, 1).node_values, series.node_values, "steps");
  require_equal(series_patches(series, 100).graphs.ptr, at::tensor({0, 1, 2, 3}, at::kLong), "one patch each");
  require_error([&] { series_patches(series, 0); }, {"steps", "0"});
  series.schema.node_values = 0;
  require_error([&] { series_patches(series, 2); }, {"series", "values"});
}

}  // namespace geosft::test::test_patches
