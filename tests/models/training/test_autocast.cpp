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

TEST_CASE("half types come out of autocast in float32, others as they are", "[autocast]") {
  const at::Tensor x = at::tensor({0.5, -3.0}, at::kDouble);
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const at::Tensor found = out_of_autocast(x.to(type));
    REQUIRE(found.scalar_type() == (type == at::kDouble ? at::kDouble : at::kFloat));
    REQUIRE(at::equal(found.to(at::kDouble), x));
  }
}

}  // namespace geosft::test::test_autocast
