// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "models/ops/cpu/primal_units.h"
#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_softmax_unit {
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

TEST_CASE("the softmax kernel of one item and head, every width around a vector", "[softmax_unit]") {
  for (const int64_t c : {1, 3, 8, 17, 40}) {
    const Item item(9, 23, c, 41 - c);
    const test::PrimalNumbers numbers{{}, false};
    const at::Tensor upstream = at::randn({9, 1, 41 - c}, generator(6), at::kDouble);
    const Outcome expected = evaluate(slow_primal(numbers), item.arguments, upstream, at::kDouble);
    for_each_target([&](const std::string& target) {
      softmax_unit_forward(item.numbers, item.unit(), item.result());
      require_close(item.out, expected.out, 1e-12, target + " out");
      const at::Tensor q_grad = at::empty_like(item.arguments["q"]), k_grad = at::empty_like(item.arguments["k"]);
      const at::Tensor v_grad = at::empty_like(item.arguments["v"]);
      softmax_unit_backward(item.numbers, item.unit(),
                            {rows_of<double>(upstream, 0, 0), rows_of<double>(item.normalizer, 0, 0),
                             mutable_rows_of<double>(q_grad, 0, 0), mutable_rows_of<double>(k_grad, 0, 0),
                             mutable_rows_of<double>(v_grad, 0, 0)});
      require_close(q_grad, expected.gradients.at("q"), 1e-12, target + " q", 0.01);
      require_close(k_grad, expected.gradients.at("k"), 1e-12, target + " k", 0.01);
      require_close(v_grad, expected.gradients.at("v"), 1e-12, target + " v", 0.01);
    });
  }
}

TEST_CASE("the softmax kernel sees the keys of its lists alone", "[softmax_unit]") {
  const Item item(3, 9, 2, 4);
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
