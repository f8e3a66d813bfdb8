// SPDX-License-Identifier: Apache-2.0
// Kernels of the primal-dual family on one item of one head.
#pragma once

#include <cmath>

#include "models/ops/cpu/primal_units.h"
#include "tests/models/ops/primal_cases.h"

namespace geosft::test {

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

// Holds the kernels forward(numbers, unit, result) and backward(numbers, unit, upstream) against the reference, on
// every target and with every width around a vector.
template <class Forward, class Backward>
void require_unit(bool linear, const Forward& forward, const Backward& backward) {
  for (const int64_t c : {1, 3, 8, 17, 40}) {
    const PrimalItem item(9, 23, c, 41 - c);
    const at::Tensor grad_output = at::randn({9, 1, 41 - c}, generator(6), at::kDouble);
    const Outcome expected = evaluate(slow_primal(PrimalNumbers{{}, linear}), item.arguments, grad_output, at::kDouble);
    for_each_target([&](const std::string& target) {
      forward(item.numbers, item.unit(), item.result());
      require_close(item.out, expected.out, 1e-12, target + " out");
      const at::Tensor q_grad = at::empty_like(item.arguments["q"]), k_grad = at::empty_like(item.arguments["k"]);
      const at::Tensor v_grad = at::empty_like(item.arguments["v"]);
      backward(item.numbers, item.unit(),
               PrimalUpstream<double>{rows_of<double>(grad_output, 0, 0), rows_of<double>(item.normalizer, 0, 0),
                                      mutable_rows_of<double>(q_grad, 0, 0), mutable_rows_of<double>(k_grad, 0, 0),
                                      mutable_rows_of<double>(v_grad, 0, 0)});
      require_close(q_grad, expected.gradients.at("q"), 1e-12, target + " q", 0.01);
      require_close(k_grad, expected.gradients.at("k"), 1e-12, target + " k", 0.01);
      require_close(v_grad, expected.gradients.at("v"), 1e-12, target + " v", 0.01);
    });
  }
}

}  // namespace geosft::test
