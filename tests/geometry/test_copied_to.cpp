// SPDX-License-Identifier: Apache-2.0
#include "geometry/copied_to.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_copied_to {

TEST_CASE("what the host made arrives as it is, without gaps", "[copied_to]") {
  const at::Tensor values = at::arange(6, at::kLong).view({2, 3}).t();
  const at::Tensor found = copied_to(values, at::kCPU);
  CHECK(found.is_contiguous());
  require_equal(found, values, "values");
  const at::Tensor elsewhere = copied_to(values, at::kMeta);
  CHECK(elsewhere.is_contiguous());
  CHECK((elsewhere.is_meta() && elsewhere.sizes() == values.sizes() && elsewhere.scalar_type() == at::kLong));
}

}  // namespace geosft::test::test_copied_to
