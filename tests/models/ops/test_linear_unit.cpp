// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "models/ops/cpu/primal_units.h"
#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_linear_unit {
namespace {

// One item of one head as tensors, and a unit over them.
struct Item {
  Item(int64_t queries, int64_t keys, int64_t c, int64_t cv)
      : arguments(random_primal({{queries}, {keys}, 1, c, cv}, 41)),
        numbers{c, cv, 1.0 / std::sqrt(static_cast<double>(c)), 1e-6},
        out(at::full({queries, 1, cv}, 7.0, at::kDouble)),
        normalizer(at::full({queries, 1}, 7.0, at::kDouble)) {}

  PrimalUnit<double> unit() const {
    return {rows_of<double>(arguments["q"], 0, 0), rows_of<double>(arguments["k"], 0, 0),
            rows_of<double>(arguments["v"], 0, 0), arguments["q"].size(0), arguments["k"].size(0)};
  }
  PrimalResult<double> result() const {
    return {mutable_rows_of<double>(out, 0, 0), mutable_rows_of<double>(normalizer, 0, 0)};
  }

  Arguments arguments;
  geosft::PrimalNumbers numbers;
  at::Tensor out, normalizer;
};

}  // namespace

TEST_CASE("the linear kernel of one item and head, every width around a vector", "[linear_unit]") {
  for (const int64_t c : {1, 3, 8, 17, 40}) {
    const Item item(9, 23, c, 41 - c);
    const test::PrimalNumbers numbers{{}, true};
    const at::Tensor upstream = at::randn({9, 1, 41 - c}, generator(6), at::kDouble);
    const Outcome expected = evaluate(slow_primal(numbers), item.arguments, upstream, at::kDouble);
    for_each_target([&](const std::string& target) {
      linear_unit_forward(item.numbers, item.unit(), item.result());
      require_close(item.out, expected.out, 1e-12, target + " out");
      const at::Tensor q_grad = at::empty_like(item.arguments["q"]), k_grad = at::empty_like(item.arguments["k"]);
      const at::Tensor v_grad = at::empty_like(item.arguments["v"]);
      linear_unit_backward(item.numbers, item.unit(),
                           {rows_of<double>(upstream, 0, 0), rows_of<double>(item.normalizer, 0, 0),
                            mutable_rows_of<double>(q_grad, 0, 0), mutable_rows_of<double>(k_grad, 0, 0),
                            mutable_rows_of<double>(v_grad, 0, 0)});
      require_close(q_grad, expected.gradients.at("q"), 1e-12, target + " q", 0.01);
      require_close(k_grad, expected.gradients.at("k"), 1e-12, target + " k", 0.01);
      require_close(v_grad, expected.gradients.at("v"), 1e-12, target + " v", 0.01);
    });
  }
}

TEST_CASE("linear attention keeps its digits where features are tiny", "[linear_unit]") {
  Item item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -40.0, at::kDouble);
  item.numbers.eps = 0;
  for_each_target([&](const std::string& target) {
    linear_unit_forward(item.numbers, item.unit(), item.result());
    const at::Tensor k = item.arguments["k"], f = at::where(k > 0, k + 1, k.exp());
    require_close(item.out[0].flatten(), ((f * item.arguments["v"]).sum() / f.sum()).view({1}), 1e-13, target);
  });
}

TEST_CASE("linear attention whose weights sum to 0 is 0", "[linear_unit]") {
  Item item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -2000.0, at::kDouble);
  item.numbers.eps = 0;
  linear_unit_forward(item.numbers, item.unit(), item.result());
  REQUIRE(item.out.eq(0).all().item<bool>());
}

}  // namespace geosft::test::test_linear_unit
