// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_gradients.h"

#include <limits>

#include "tests/support.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_attention_gradients {

TEST_CASE("CoreGradients adds the copies of all groups and spreads the leak over keys", "[attention_gradients]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> leak{0.0, -infinity, 0.0};
  const AttentionProblem<double> problem{{}, {}, {}, leak.data(), 1, 1, 2, 0.0, {0, 2, 3}, {0, 2, 3}};
  BackwardPlan plan{1, 2, {}};
  for (const auto& [item, group] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0)}) {
    AttentionUnit unit{};
    unit.item = item;
    unit.group = group;
    plan.units.push_back(unit);
  }
  CoreGradients<double> to(problem, plan, at::kDouble);
  std::fill_n(to.dq.at(0, 0), 3, 1.0);
  for (int64_t group = 0; group < 2; ++group) {
    std::fill_n(to.k.sums(group), 3, 1.0 + static_cast<double>(group));
    std::fill_n(to.v.sums(group), 6, 10.0);
  }
  for (int64_t u = 0; u < 3; ++u) to.delta_sum[u] = static_cast<double>(u + 1);
  const auto [q, k, v, leak_grad] = to.finish(problem, plan);
  require_equal(q, at::ones({3, 1, 1}, at::kDouble), "q");
  require_equal(k, at::full({3, 1, 1}, 3.0, at::kDouble), "k");
  require_equal(v, at::full({3, 1, 2}, 20.0, at::kDouble), "v");
  require_equal(leak_grad, at::tensor({1.5, 0.0, 1.5}, at::kDouble).unsqueeze(1), "leak");
}

TEST_CASE("RowGradient has partial accumulators only if units share rows or nothing is rounded",
          "[attention_gradients]") {
  const RowGradient<float> exact({4, 2, 3}, 1, at::kFloat), alone({4, 2, 3}, 1, at::kHalf);
  REQUIRE(exact.sums(0) != nullptr);
  REQUIRE(exact.rows(0).at(1, 2) == exact.sums(0) + 8);
  REQUIRE(alone.sums(0) == nullptr);
  REQUIRE(alone.rows(0).width == 6);
  REQUIRE(alone.rows(0).storage == StorageType::float16);
  RowGradient<float> shared({4, 2, 3}, 2, at::kHalf), untouched = alone;
  REQUIRE(shared.sums(1) != nullptr);
  REQUIRE(shared.rows(1).storage == StorageType::opmath);
  require_equal(untouched.finish(), at::zeros({4, 2, 3}, at::kHalf), "keys that no unit has");
}

TEST_CASE("RowGradient is empty if it is not requested", "[attention_gradients]") {
  RowGradient<double> none;
  REQUIRE_FALSE(none.defined());
  REQUIRE(none.sums(0) == nullptr);
  REQUIRE(none.finish().numel() == 0);
}

}  // namespace geosft::test::test_attention_gradients
