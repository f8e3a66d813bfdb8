// SPDX-License-Identifier: Apache-2.0
#include "tests/models/ops/primal_item.h"

namespace geosft::test::test_linear_unit {

TEST_CASE("the linear kernel of one item and head, every width around a vector", "[linear_unit]") {
  require_unit(
      true, [](const auto&... in) { linear_unit_forward(in...); },
      [](const auto&... in) { linear_unit_backward(in...); });
}

TEST_CASE("linear attention keeps its digits where features are tiny", "[linear_unit]") {
  PrimalItem item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -40.0, at::kDouble);
  item.numbers.eps = 0;
  for_each_target([&](const std::string& target) {
    linear_unit_forward(item.numbers, item.unit(), item.result());
    const at::Tensor k = item.arguments["k"], f = at::where(k > 0, k + 1, k.exp());
    require_close(item.out[0].flatten(), ((f * item.arguments["v"]).sum() / f.sum()).view({1}), 1e-13, target);
  });
}

TEST_CASE("linear attention whose weights sum to 0 is 0", "[linear_unit]") {
  PrimalItem item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -2000.0, at::kDouble);
  item.numbers.eps = 0;
  linear_unit_forward(item.numbers, item.unit(), item.result());
  REQUIRE(item.out.eq(0).all().item<bool>());
}

}  // namespace geosft::test::test_linear_unit
