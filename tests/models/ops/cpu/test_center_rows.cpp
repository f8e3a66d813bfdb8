// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/center_rows.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_center_rows {

TEST_CASE("centered_rows takes the mean of every item away", "[center_rows]") {
  for (const auto type : {at::kDouble, at::kFloat}) {
    const at::Tensor x = at::randn({9, 2, 3}, generator(1), at::TensorOptions().dtype(type)) + 100;
    const at::Tensor out = centered_rows(x, {0, 4, 4, 9});
    const at::Tensor exact = x.to(at::kDouble);
    const double tolerance = type == at::kDouble ? 1e-13 : 1e-5;
    require_close(out.slice(0, 0, 4), exact.slice(0, 0, 4) - exact.slice(0, 0, 4).mean(0, true), tolerance, "first");
    require_close(out.slice(0, 4), exact.slice(0, 4) - exact.slice(0, 4).mean(0, true), tolerance, "last");
  }
}

TEST_CASE("centered_rows of no rows is empty", "[center_rows]") {
  REQUIRE(centered_rows(at::zeros({0, 2, 3}), {0, 0}).sizes() == at::IntArrayRef({0, 2, 3}));
}

}  // namespace geosft::test::test_center_rows
