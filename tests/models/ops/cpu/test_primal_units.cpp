// SPDX-License-Identifier: Apache-2.0
// Kernels of the primal-dual family on one item of one head.
#include "models/ops/cpu/primal_units.h"

#include <cmath>

#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_primal_units {
namespace {

// One item of one head as tensors, and a unit over them.
struct PrimalItem {
  PrimalItem(int64_t queries, int64_t keys, int64_t c, int64_t cv)
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

void forward(bool linear, const geosft::PrimalNumbers& n, const PrimalUnit<double>& unit,
             const PrimalResult<double>& to) {
  primal_unit_kernels<double>(linear).forward(n, unit, to);
}

// Holds the kernels against the reference, on every target and with every width around a vector.
void require_unit(bool linear) {
  for (const int64_t c : {1, 3, 8, 17, 40}) {
    const PrimalItem item(9, 23, c, 41 - c);
    const at::Tensor grad_output = at::randn({9, 1, 41 - c}, generator(6), at::kDouble);
    const Outcome expected = evaluate(slow_primal(PrimalNumbers{{}, linear}), item.arguments, grad_output, at::kDouble);
    for_each_target([&](const std::string& target) {
      forward(linear, item.numbers, item.unit(), item.result());
      require_close(item.out, expected.out, 1e-12, target + " out");
      const at::Tensor q_grad = at::empty_like(item.arguments["q"]), k_grad = at::empty_like(item.arguments["k"]);
      const at::Tensor v_grad = at::empty_like(item.arguments["v"]);
      primal_unit_kernels<double>(linear).backward(
          item.numbers, item.unit(),
          PrimalUnitGradients<double>{rows_of<double>(grad_output, 0, 0), rows_of<double>(item.normalizer, 0, 0),
                                      mutable_rows_of<double>(q_grad, 0, 0), mutable_rows_of<double>(k_grad, 0, 0),
                                      mutable_rows_of<double>(v_grad, 0, 0)});
      require_close(q_grad, expected.gradients.at("q"), 1e-12, target + " q", 0.01);
      require_close(k_grad, expected.gradients.at("k"), 1e-12, target + " k", 0.01);
      require_close(v_grad, expected.gradients.at("v"), 1e-12, target + " v", 0.01);
    });
  }
}

}  // namespace

TEST_CASE("the linear kernel of one item and head, every width around a vector", "[primal_units]") {
  // Measured over 1,000 seeds, at most: 2.5e-13 where 1e-12 is allowed.
  require_unit(true);
}

TEST_CASE("linear attention keeps its digits where features are tiny", "[primal_units]") {
  // Measured over 1,000 seeds, at most: 9.9e-15 where 1e-13 is allowed.
  PrimalItem item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -40.0, at::kDouble);
  item.numbers.eps = 0;
  for_each_target([&](const std::string& target) {
    forward(true, item.numbers, item.unit(), item.result());
    const at::Tensor k = item.arguments["k"], f = at::where(k > 0, k + 1, k.exp());
    require_close(item.out[0].flatten(), ((f * item.arguments["v"]).sum() / f.sum()).view({1}), 1e-13, target);
  });
}

TEST_CASE("linear attention whose weights sum to 0 is 0", "[primal_units]") {
  PrimalItem item(2, 3, 1, 1);
  item.arguments.tensors["q"] = at::full({2, 1, 1}, -2000.0, at::kDouble);
  item.numbers.eps = 0;
  forward(true, item.numbers, item.unit(), item.result());
  REQUIRE(item.out.eq(0).all().item<bool>());
}

TEST_CASE("the softmax kernel of one item and head, every width around a vector", "[primal_units]") {
  // Measured over 1,000 seeds, at most: 6.8e-15 where 1e-12 is allowed.
  require_unit(false);
}

TEST_CASE("the softmax kernel sees the keys of its lists alone", "[primal_units]") {
  // Measured over 1,000 seeds, at most: 3.1e-14 where 1e-12 is allowed, and the same bits where 1e-14 is allowed.
  const PrimalItem item(3, 9, 2, 4);
  const std::vector<int64_t> rowptr{0, 1, 1, 3}, col{104, 100, 108};
  PrimalUnit<double> unit = item.unit();
  unit.rowptr = rowptr.data();
  unit.col = col.data();
  unit.first_key = 100;
  for_each_target([&](const std::string& target) {
    forward(false, item.numbers, unit, item.result());
    require_close(item.out[0], item.arguments["v"][4], 1e-14, target + " the one key");
    REQUIRE(item.out[1].eq(0).all().item<bool>());
    const at::Tensor q = item.arguments["q"][2][0], k = item.arguments["k"].select(1, 0);
    const double low = at::dot(q, k[0]).item<double>() * item.numbers.scale,
                 high = at::dot(q, k[8]).item<double>() * item.numbers.scale;
    require_close(item.normalizer[2][0], at::scalar_tensor(std::log(std::exp(low) + std::exp(high)), at::kDouble),
                  1e-12, target + " normalizer");
  });
}

}  // namespace geosft::test::test_primal_units
