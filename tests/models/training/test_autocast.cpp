// SPDX-License-Identifier: Apache-2.0
#include "models/training/autocast.h"

#include <ATen/autocast_mode.h>

#include <catch2/catch.hpp>

namespace geosft::test::test_autocast {

TEST_CASE("matrix products are of the type that is asked for, while it is", "[autocast]") {
  const at::Tensor a = at::ones({2, 3}), b = at::ones({3, 2});
  {
    const Autocast none(at::kCPU, std::nullopt);
    REQUIRE(at::mm(a, b).scalar_type() == at::kFloat);
    const Autocast half(at::kCPU, at::kBFloat16);
    REQUIRE(at::mm(a, b).scalar_type() == at::kBFloat16);
    REQUIRE((a + a).scalar_type() == at::kFloat);
  }
  REQUIRE(at::mm(a, b).scalar_type() == at::kFloat);
  REQUIRE_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

}  // namespace geosft::test::test_autocast
