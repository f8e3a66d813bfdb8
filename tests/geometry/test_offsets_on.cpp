// SPDX-License-Identifier: Apache-2.0
#include "geometry/offsets_on.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_offsets_on {

TEST_CASE("offsets are brought to where the rows are, from the CPU alone") {
  const at::Tensor ptr = at::tensor({0, 3, 7, 9}, at::kLong);
  REQUIRE(offsets_on(ptr, at::kCPU, "ptr").is_same(ptr));
  REQUIRE(offsets_on(ptr.slice(0, 0, 4, 2), at::kCPU, "ptr").is_contiguous());
  REQUIRE_FALSE(offsets_on(std::nullopt, at::kCPU, "ptr").defined());
  REQUIRE_FALSE(offsets_on(at::Tensor(), at::kCPU, "ptr").defined());
  REQUIRE(offsets_on(ptr, at::kMeta, "ptr").is_meta());
  test::require_error([&] { offsets_on(ptr.to(at::kMeta), at::kCPU, "k_ptr"); }, {"k_ptr", "cpu", "meta"});
}

TEST_CASE("offsets carry their copy on a device along, until they are changed in place") {
  const at::Tensor ptr = at::tensor({0, 3, 7}, at::kLong), copy = ptr.to(at::kMeta);
  const at::Tensor carrier = offsets_with_copy(ptr, copy);
  REQUIRE(offsets_on(carrier, at::kMeta, "ptr").is_same(copy));
  REQUIRE(offsets_on(carrier.detach(), at::kMeta, "ptr").is_same(copy));
  REQUIRE_FALSE(offsets_on(ptr, at::kMeta, "ptr").is_same(copy));
  REQUIRE(offsets_on(carrier, at::kCPU, "ptr").is_same(carrier));
  carrier.add_(1);
  REQUIRE_FALSE(offsets_on(carrier, at::kMeta, "ptr").is_same(copy));
  test::require_error([&] { offsets_with_copy(ptr, copy.slice(0, 1)); }, {"copy", "[3]", "[2]"});
  test::require_error([&] { offsets_with_copy(copy, copy); }, {"ptr must be on the CPU", "meta"});
}

TEST_CASE("rows know their item") {
  const at::Tensor ptr = at::tensor({0, 2, 2, 3}, at::kLong);
  test::require_equal(item_of_row_on(ptr, 3, at::kCPU), at::tensor({0, 0, 2}, at::kLong), "items");
  test::require_equal(item_of_row_on(std::nullopt, 2, at::kCPU), at::zeros({2}, at::kLong), "one item");
  test::require_error([&] { item_of_row_on(ptr, 4, at::kCPU); }, {"ptr", "4"});
}

}  // namespace geosft::test::test_offsets_on
