// SPDX-License-Identifier: Apache-2.0
#include "models/theory/primal_frame.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/primal_attention.h"
#include "tests/support.h"

namespace geosft::test::test_primal_frame {
namespace {

constexpr int64_t c = 4;
const double scale = 1 / std::sqrt(static_cast<double>(c));
const RegressionOptions options{.cost = 1e4, .epsilon = 0.05};

at::Tensor normal(int64_t rows, int64_t columns, uint64_t seed) {
  return at::randn({rows, columns}, generator(seed), at::kDouble);
}

struct Data {
  at::Tensor keys = normal(41, c, 1), x = normal(20, c, 2);
  at::Tensor targets = at::stack({keys.select(1, 0).sin(), keys.select(1, 1) * keys.select(1, 2)}, 1);
};

struct Member {
  std::string name;
  PrimalFrame frame;
  double beta = 0;
  int64_t factor = 1;
  bool linear = false;
};

std::vector<Member> members() {
  return {{"softmax", softmax_frame(scale)},
          {"linear", linear_frame(1e-6), 0, 1, true},
          {"bn", recentred(softmax_frame(scale), 0.6), 0.6},
          {"linear bn", recentred(linear_frame(1e-6), 0.6), 0.6, 1, true},
          {"scaled head", pooled(softmax_frame(scale), 4), 0, 4},
          {"recentred scaled head", recentred(pooled(softmax_frame(scale), 4), 0.6), 0.6, 4}};
}

// The operator over the keys as they are given; a value of a group is the value of each of its keys.
at::Tensor operator_result(const Member& member, const at::Tensor& x, const at::Tensor& keys,
                           const at::Tensor& values) {
  const auto head = [](const at::Tensor& rows) { return rows.unsqueeze(1); };
  const at::Tensor spread = at::repeat_interleave(values, member.factor, 0).slice(0, 0, keys.size(0));
  return primal_attention(head(x), head(keys), head(spread), at::scalar_tensor(member.beta, at::kDouble),
                          std::vector<int64_t>{member.factor}, member.linear ? "linear" : "softmax")
      .squeeze(1);
}

}  // namespace

TEST_CASE("attention with the values of the dual is the regressor's prediction", "[primal_frame]") {
  // Measured over 1,000 seeds, at most: 1.5e-14 where 1e-12 is allowed, and 3.0e-14 where 1e-12 is allowed.
  const Data data;
  for (const Member& member : members()) {
    INFO(member.name);
    const FittedFrame fitted(member.frame, data.keys, data.targets, options);
    const at::Tensor predicted = fitted.predicted(data.x);
    REQUIRE(fitted.values.size(0) == (data.keys.size(0) + member.factor - 1) / member.factor);
    REQUIRE(predicted.std().item<double>() > 0.01);  // there is something to reproduce
    require_close(fitted.attended(data.x), predicted, 1e-12, "by the frame");
    require_close(operator_result(member, data.x, data.keys, fitted.values), predicted, 1e-12, "by primal_attention");
  }
}

TEST_CASE("layers within the primal and residual connections keep the expansion", "[primal_frame]") {
  // Measured over 1,000 seeds, at most: 5.7e-15 where 5e-13 is allowed.
  const Data data;
  const at::Tensor line = at::tensor({0.2, 1.0, -0.3}, at::kDouble), skip = normal(c, 2, 3);
  const at::Tensor square = at::tensor({1.0, 0.2, -0.1, 0.3}, at::kDouble).view({2, 2});
  const at::Tensor keys = data.keys.slice(0, 0, 40), targets = data.targets.slice(0, 0, 40);
  const PrimalFrame softmax = softmax_frame(scale);
  for (const PrimalFrame& frame : {standardized(softmax, 1e-6), convolved(softmax, line),
                                   restricted(softmax, at::arange(0, 40, 3, at::kLong)), with_skip(softmax, skip)}) {
    const FittedFrame fitted(frame, keys, targets, options);
    require_close(fitted.attended(data.x), fitted.predicted(data.x), 5e-13, "by the frame");
  }
  const FittedFrame grid(convolved_on_grid(softmax, square, 8, 5), keys, targets, options);
  require_close(grid.attended(keys), grid.predicted(keys), 5e-13, "on a grid");
  // With a residual connection the targets are still those that are fitted.
  const FittedFrame residual(with_skip(softmax, skip), keys, targets, {.cost = 1e6, .epsilon = 0.05});
  const at::Tensor left = residual.attended(keys) + residual.regression.bias() - targets;
  CHECK(left.abs().max().item<double>() < 0.051);
}

TEST_CASE("the regressor is fitted to its targets", "[primal_frame]") {
  const Data data;
  const FittedFrame fitted(softmax_frame(scale), data.keys, data.targets, {.cost = 1e6, .epsilon = 0.05});
  const at::Tensor residual = fitted.predicted(data.keys) + fitted.regression.bias() - data.targets;
  REQUIRE(residual.abs().max().item<double>() < 0.051);
}

TEST_CASE("the frame agrees with an independent solution", "[primal_frame]") {
  // Measured: 1.3e-15 where 1e-10 is allowed, and 3.7e-7 where 1e-6 is allowed.
  const Fixture fixture("primal_svr");
  const RegressionOptions same{.cost = fixture.number("C", 0), .epsilon = fixture.number("epsilon", 0)};
  const at::Tensor keys = fixture.get("keys");
  const FittedFrame fitted(softmax_frame(1 / std::sqrt(6.0)), keys, fixture.get("targets"), same);
  const at::Tensor bias = fixture.get("bias");
  require_close(fitted.predicted(fixture.get("x")) + fitted.regression.bias(), fixture.get("prediction_x"), 1e-6, "x");
  require_close(fitted.predicted(keys) + fitted.regression.bias(), fixture.get("prediction_keys"), 1e-6, "keys");
  const at::Tensor values = fixture.get("dual") / fixture.get("h").unsqueeze(1);
  require_close(frame_attention(fitted.frame, fixture.get("x"), keys, values) + bias, fixture.get("prediction_x"),
                1e-10, "the dual that came along");
}

TEST_CASE("a normaliser of one's own replaces the sum of features", "[primal_frame]") {
  // Measured over 1,000 seeds, at most: 6.6e-15 where 5e-13 is allowed, and the same bits where 1e-13 is allowed.
  const Data data;
  PrimalFrame frame = softmax_frame(scale);
  frame.normalizer = [](const at::Tensor& x, const at::Tensor&) { return x.square().sum(1) + 1; };
  const at::Tensor weights = (at::matmul(data.x, data.keys.t()) * scale).exp() / (data.x.square().sum(1, true) + 1);
  require_close(frame_attention(frame, data.x, data.keys, data.targets), at::matmul(weights, data.targets), 1e-13, "h");
  const FittedFrame fitted(frame, data.keys, data.targets, options);
  require_close(fitted.attended(data.x), fitted.predicted(data.x), 5e-13, "fitted");
}

}  // namespace geosft::test::test_primal_frame
