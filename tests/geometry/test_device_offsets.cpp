// SPDX-License-Identifier: Apache-2.0
#include "geometry/device_offsets.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_device_offsets {

TEST_CASE("offsets are brought to where the rows are, from the CPU alone") {
  const at::Tensor ptr = at::tensor({0, 3, 7, 9}, at::kLong);
  REQUIRE(ptr_on_device(ptr, at::kCPU, "ptr").is_same(ptr));
  REQUIRE(ptr_on_device(ptr.slice(0, 0, 4, 2), at::kCPU, "ptr").is_contiguous());
  REQUIRE_FALSE(ptr_on_device(std::nullopt, at::kCPU, "ptr").defined());
  REQUIRE_FALSE(ptr_on_device(at::Tensor(), at::kCPU, "ptr").defined());
  REQUIRE(ptr_on_device(ptr, at::kMeta, "ptr").is_meta());
  test::require_error([&] { ptr_on_device(ptr.to(at::kMeta), at::kCPU, "k_ptr"); }, {"k_ptr", "cpu", "meta"});
}

TEST_CASE("offsets carry their copy on a device along, until they are changed in place") {
  const at::Tensor ptr = at::tensor({0, 3, 7}, at::kLong), copy = ptr.to(at::kMeta);
  const at::Tensor carrier = ptr_with_device_copy(ptr, copy);
  REQUIRE(ptr_on_device(carrier, at::kMeta, "ptr").is_same(copy));
  REQUIRE(ptr_on_device(carrier.detach(), at::kMeta, "ptr").is_same(copy));
  REQUIRE_FALSE(ptr_on_device(ptr, at::kMeta, "ptr").is_same(copy));
  REQUIRE(ptr_on_device(carrier, at::kCPU, "ptr").is_same(carrier));
  carrier.add_(1);
  REQUIRE_FALSE(ptr_on_device(carrier, at::kMeta, "ptr").is_same(copy));
  test::require_error([&] { ptr_with_device_copy(ptr, copy.slice(0, 1)); }, {"copy", "[3]", "[2]"});
  test::require_error([&] { ptr_with_device_copy(copy, copy); }, {"ptr must be on the CPU", "meta"});
}

TEST_CASE("rows know their item") {
  const at::Tensor ptr = at::tensor({0, 2, 2, 3}, at::kLong);
  test::require_equal(item_of_row_on_device(ptr, 3, at::kCPU), at::tensor({0, 0, 2}, at::kLong), "items");
  test::require_equal(item_of_row_on_device(std::nullopt, 2, at::kCPU), at::zeros({2}, at::kLong), "one item");
  test::require_error([&] { item_of_row_on_device(ptr, 4, at::kCPU); }, {"ptr", "4"});
  const at::Tensor none = at::zeros({1}, at::kLong);
  test::require_equal(item_of_row_on_device(none, 0, at::kCPU), at::empty({0}, at::kLong), "no items");
  for (const at::Device device : {at::kCPU, at::kMeta}) {
    test::require_error([&] { item_of_row_on_device(none, 4, device); }, {"ptr", "4"});
  }
}

TEST_CASE("what the host made arrives as it is, without gaps", "[copy_to_device]") {
  const at::Tensor values = at::arange(6, at::kLong).view({2, 3}).t();
  const at::Tensor found = copy_to_device(values, at::kCPU);
  CHECK(found.is_contiguous());
  require_equal(found, values, "values");
  const at::Tensor elsewhere = copy_to_device(values, at::kMeta);
  CHECK(elsewhere.is_contiguous());
  CHECK((elsewhere.is_meta() && elsewhere.sizes() == values.sizes() && elsewhere.scalar_type() == at::kLong));
}

}  // namespace geosft::test::test_device_offsets
