// SPDX-License-Identifier: Apache-2.0
#include "data/image_patches.h"

#include <catch2/catch.hpp>

#include "data/sequence_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_image_patches {

TEST_CASE("images become squares of their pixels, row by row", "[image_patches]") {
  PackedGraphs images = packed_sequences(at::tensor({0, 8, 16}, at::kLong), at::tensor({1, 0}, at::kLong), {"a", "b"});
  images.node_values = at::arange(32, at::kFloat).view({16, 2});
  images.schema.node_values = 2;
  images.schema.grid_height = 2;
  images.schema.grid_width = 4;
  images.split = GraphSplit{{0}, {}, {1}};
  check_packed_graphs(images, "images");
  const PackedGraphs patches = image_patches(images, 2);
  check_packed_graphs(patches, "patches");
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

}  // namespace geosft::test::test_image_patches
