// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/models/ops/primal_item.h"

namespace geosft::test::test_softmax_unit {

TEST_CASE("the softmax kernel of one item and head, every width around a vector", "[softmax_unit]") {
  require_unit(
      false, [](const auto&... in) { softmax_unit_forward(in...); },
      [](const auto&... in) { softmax_unit_backward(in...); });
}

TEST_CASE("the softmax kernel sees the keys of its lists alone", "[softmax_unit]") {
  const PrimalItem item(3, 9, 2, 4);
  const std::vector<int64_t> rowptr{0, 1, 1, 3}, col{104, 100, 108};
  PrimalUnit<double> unit = item.unit();
  unit.rowptr = rowptr.data();
  unit.col = col.data();
  unit.first_key = 100;
  for_each_target([&](const std::string& target) {
    softmax_unit_forward(item.numbers, unit, item.result());
    require_close(item.out[0], item.arguments["v"][4], 1e-14, target + " the one key");
    REQUIRE(item.out[1].eq(0).all().item<bool>());
    const at::Tensor q = item.arguments["q"][2][0], k = item.arguments["k"].select(1, 0);
    const double low = at::dot(q, k[0]).item<double>() * item.numbers.scale,
                 high = at::dot(q, k[8]).item<double>() * item.numbers.scale;
    require_close(item.normalizer[2][0], at::scalar_tensor(std::log(std::exp(low) + std::exp(high)), at::kDouble),
                  1e-12, target + " normalizer");
  });
}

}  // namespace geosft::test::test_softmax_unit
