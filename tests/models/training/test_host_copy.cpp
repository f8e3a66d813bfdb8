// SPDX-License-Identifier: Apache-2.0
#include "models/training/host_copy.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_host_copy {

TEST_CASE("a copy of a tensor on the CPU is available immediately", "[host_copy]") {
  const at::Tensor values = at::arange(3, at::kDouble).requires_grad_(true);
  require_equal(HostCopy(values).values(), values.detach(), "values");
  REQUIRE_FALSE(HostCopy(values).values().requires_grad());
}

TEST_CASE("a copy to the device where a tensor is, or of none, is the same tensor", "[host_copy]") {
  const at::Tensor values = at::arange(3);
  REQUIRE(device_copy(values, at::kCPU).is_same(values));
  REQUIRE_FALSE(device_copy(at::Tensor(), at::kCPU).defined());
  REQUIRE(device_copy(values, at::kMeta).is_meta());
}

}  // namespace geosft::test::test_host_copy
