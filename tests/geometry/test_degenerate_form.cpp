// SPDX-License-Identifier: Apache-2.0
#include "geometry/degenerate_form.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_degenerate_form {

TEST_CASE("degenerate_form tells equal points and points on one line from others") {
  const at::Tensor place = at::arange(20, at::kDouble).unsqueeze(1);
  const at::Tensor line = place * at::tensor({1.0, 2.0, 3.0}) + 5;
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    CHECK(degenerate_form(at::full({20, 3}, 0.3).to(type)) == "are equal");
    CHECK(degenerate_form(line.to(type)) == "lie on one line");
    CHECK(degenerate_form(at::cat({line, at::tensor({9.0, 0.0, 0.0}).unsqueeze(0)}).to(type)).empty());
    CHECK(degenerate_form(at::zeros({1, 3}, type)).empty());
    CHECK(degenerate_form(at::zeros({0, 3}, type)).empty());
  }
  // The tolerance is 1e-5 of the largest distance from the first point.
  at::Tensor bent = place * at::tensor({1.0, 0.0, 0.0});
  bent[10][1] = 0.9e-5 * 19;
  CHECK(degenerate_form(bent) == "lie on one line");
  bent[10][1] = 1.1e-5 * 19;
  CHECK(degenerate_form(bent).empty());
}

TEST_CASE("degenerate_form refuses bad points by name") {
  require_error([] { degenerate_form(at::zeros({3})); }, {"points", "[3]"});
  require_error([] { degenerate_form(at::zeros({4, 3}, at::kLong)); }, {"points"});
}

}  // namespace geosft::test::test_degenerate_form
