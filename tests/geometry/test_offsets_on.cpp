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

}  // namespace geosft::test::test_offsets_on
