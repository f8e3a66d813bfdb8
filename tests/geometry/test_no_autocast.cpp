// SPDX-License-Identifier: Apache-2.0
#include "geometry/no_autocast.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <catch2/catch.hpp>

#include "geometry/rotation.h"

namespace geosft::test::test_no_autocast {

TEST_CASE("matrix products keep the type of their arguments, also inside autocast, and so do rotations",
          "[no_autocast]") {
  const at::Tensor x = at::ones({3, 3});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::ScalarType inside = at::mm(x, x).scalar_type();
  at::ScalarType kept = inside;
  {
    const NoAutocast none;
    kept = at::mm(x, x).scalar_type();
  }
  const at::ScalarType after = at::mm(x, x).scalar_type();
  const at::ScalarType turned = rotate(x, at::eye(3)).scalar_type();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  CHECK(inside == at::kBFloat16);
  CHECK(kept == at::kFloat);
  CHECK(after == at::kBFloat16);
  CHECK(turned == at::kFloat);
}

}  // namespace geosft::test::test_no_autocast
