// SPDX-License-Identifier: Apache-2.0
#include "geometry/packed.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_packed {
using test::require_error;

TEST_CASE("without ptr there is one item of all rows") {
  REQUIRE(packed_offsets(std::nullopt, 5, "ptr") == std::vector<int64_t>{0, 5});
  REQUIRE(packed_offsets(at::Tensor(), 0, "ptr") == std::vector<int64_t>{0, 0});
}

TEST_CASE("offsets are read from strided tensors, empty items included") {
  const at::Tensor ptr = at::tensor({0, -1, 0, -1, 3, -1, 5, -1}, at::kLong).slice(0, 0, 8, 2);
  REQUIRE(packed_offsets(ptr, 5, "ptr") == std::vector<int64_t>{0, 0, 3, 5});
}

TEST_CASE("a wrong ptr is refused by name") {
  const auto read = [](const at::Tensor& ptr) { return [ptr] { packed_offsets(ptr, 5, "q_ptr"); }; };
  require_error(read(at::tensor({0, 5}, at::kInt)), {"q_ptr", "int64", "Int"});
  require_error(read(at::zeros({0}, at::kLong)), {"q_ptr", "at least 1 entry", "[0]"});
  require_error(read(at::tensor({0}, at::kLong)), {"q_ptr", "number of rows, 5", "0"});
  require_error(read(at::zeros({2, 2}, at::kLong)), {"q_ptr", "one dimension"});
  require_error(read(at::tensor({1, 5}, at::kLong)), {"q_ptr", "begin with 0", "1"});
  require_error(read(at::tensor({2, 3}, at::kLong)),
                {"q_ptr must begin with 0, not 2: it looks like the sizes of the"});
  constexpr int64_t large = int64_t{1} << 62;  // three of them are beyond int64
  require_error(read(at::tensor({large, large, large, int64_t{0}}, at::kLong)), {"q_ptr", "begin with 0"});
  require_error(read(at::tensor({0, 4, 3, 5}, at::kLong)), {"q_ptr", "not decrease", "entry 2 is 3 after 4"});
  require_error(read(at::tensor({0, 4}, at::kLong)), {"q_ptr", "number of rows, 5", "4"});
}

TEST_CASE("a pair of ptr is given both or neither, with the same items") {
  const at::Tensor two = at::tensor({0, 2, 5}, at::kLong), one = at::tensor({0, 3}, at::kLong);
  const at::Tensor other = at::tensor({0, 3, 3}, at::kLong);
  const OffsetPair offsets = packed_offset_pair(two, 5, "ptr", other, 3, "query_ptr");
  REQUIRE(offsets.items() == 2);
  REQUIRE(offsets.second == std::vector<int64_t>{0, 3, 3});
  require_error([&] { packed_offset_pair(two, 5, "ptr", {}, 3, "query_ptr"); },
                {"ptr", "query_ptr", "both or neither"});
  require_error([&] { packed_offset_pair(two, 5, "ptr", one, 3, "query_ptr"); }, {"ptr", "query_ptr", "3 and 2"});
  const at::Tensor number = at::scalar_tensor(5, at::kLong);
  require_error([&] { packed_offset_pair(number, 5, "ptr", number, 5, "query_ptr"); }, {"ptr must", "one dimension"});
  const at::Tensor elsewhere = at::empty({3}, at::TensorOptions().dtype(at::kLong).device(at::kMeta));
  require_error([&] { packed_offset_pair(two, 5, "ptr", elsewhere, 3, "query_ptr"); },
                {"query_ptr must be on the CPU"});
}

TEST_CASE("what a ptr is without its values is checked on meta tensors too") {
  const at::Tensor ptr = at::empty({3}, at::TensorOptions().dtype(at::kLong).device(at::kMeta));
  const at::Tensor rows = at::empty({5, 3}, at::kMeta), none = rows.slice(0, 0, 0), here = at::empty({5, 3});
  check_ptr(std::nullopt, "ptr", here);
  check_ptr(ptr, "ptr", rows);
  check_ptr(ptr.slice(0, 0, 1), "ptr", none);
  check_ptr_pair(ptr, "ptr", rows, ptr, "query_ptr", none);
  require_error([&] { check_ptr(ptr.slice(0, 0, 0), "q_ptr", none); }, {"q_ptr", "at least 1 entry", "[0]"});
  require_error([&] { check_ptr(ptr.slice(0, 0, 1), "q_ptr", rows); },
                {"q_ptr must have an item for the 5 rows", "[1]"});
  require_error([&] { check_ptr_pair(ptr, "ptr", rows, std::nullopt, "query_ptr", rows); }, {"both or neither"});
  require_error([&] { check_ptr(ptr, "ptr", here); }, {"ptr must be on the CPU", "meta"});
  require_error([&] { check_ptr_pair(ptr, "ptr", here, ptr, "query_ptr", here); }, {"ptr must be on the CPU", "meta"});
  check_ptr(offsets_tensor({0, 3}), "ptr", rows);
  REQUIRE(item_count(ptr) == 2);
  REQUIRE(item_count(std::nullopt) == 1);
}

TEST_CASE("offsets become tensors of offsets and of items") {
  test::require_equal(offsets_tensor({0, 2, 2, 3}), at::tensor({0, 2, 2, 3}, at::kLong), "offsets");
  test::require_equal(item_of_row({0, 2, 2, 3}), at::tensor({0, 0, 2}, at::kLong), "items");
}

TEST_CASE("a batch of no items has the offset 0 alone") {
  const at::Tensor none = offsets_tensor({0});
  REQUIRE(packed_offsets(none, 0, "ptr") == std::vector<int64_t>{0});
  REQUIRE(packed_offset_pair(none, 0, "q_ptr", none, 0, "k_ptr").items() == 0);
  REQUIRE(item_count(none) == 0);
  test::require_equal(item_of_row({0}), at::empty({0}, at::kLong), "items");
  require_error([] { item_of_row({}); }, {"offsets must begin with 0"});
}

}  // namespace geosft::test::test_packed
