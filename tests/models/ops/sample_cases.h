// SPDX-License-Identifier: Apache-2.0
// Samples of pairs by name, and the scores that they are sampled by.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/ops/sample_pairs.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::sample_cases {

struct Samples {
  at::Tensor top, partner, weight, sample_ptr;
};

inline Samples as_samples(std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> result) {
  auto [top, partner, weight, sample_ptr] = std::move(result);
  return {top, partner, weight, sample_ptr};
}

// `items` copies of one item: scores and ptr.
inline std::pair<at::Tensor, at::Tensor> copies(const at::Tensor& item, int64_t items) {
  return {item.repeat({items}), at::arange(items + 1, at::kLong) * item.numel()};
}

// Pairs of scores near -30, where the formula of log softplus(x) changes to x - e^x / 2: all pairs of these scores.
inline SampledPairs pairs_near_the_tail() {
  const int64_t scores = 5;
  const at::Tensor row = at::arange(scores * scores, at::kLong);
  return {row.div(scores, "trunc"), row % scores, at::zeros({2, scores * scores}, at::kDouble),
          longs({0, scores * scores})};
}
inline at::Tensor scores_near_the_tail() {
  return at::tensor({-29.5, -29.99, -30.01, -30.5, -31.9}, at::kDouble);
}

// `weigh` gives the weights of pairs_near_the_tail() and `differentiate` the gradient of the score for a gradient of
// the weights, both for tau = 1. The expected values come from long double, whose softplus is exact enough. x itself is
// off by e^x / 2 = 5e-14 there. What float64 allows: a logarithm between -32 and -29 is off by at most one unit in the
// last place, 3.6e-15, and a weight changes by at most a quarter of the difference of two of them: 2e-15, and its own
// rounding. A gradient is w (1 - w) slope, where the error of w counts |1 - 2 w| < 1 times: 8e-15 relative.
inline void require_tail(
    const std::function<at::Tensor(const at::Tensor&, const SampledPairs&)>& weigh,
    const std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const SampledPairs&)>& differentiate) {
  const at::Tensor score = scores_near_the_tail();
  const SampledPairs pairs = pairs_near_the_tail();
  const at::Tensor weight = weigh(score, pairs);
  for (int64_t j = 0; j < pairs.top.numel(); ++j) {
    const int64_t a = pairs.top[j].item<int64_t>(), b = pairs.partner[j].item<int64_t>();
    if (a == b) continue;
    const auto softplus = [&](int64_t row) {
      return std::log1p(std::exp(static_cast<long double>(score[row].item<double>())));
    };
    const auto slope = [&](int64_t row) {
      const long double e = std::exp(static_cast<long double>(score[row].item<double>()));
      return e / (1 + e) / softplus(row);
    };
    const long double w = softplus(a) / (softplus(a) + softplus(b));
    INFO("scores " << score[a].item<double>() << " and " << score[b].item<double>());
    CHECK(std::abs(weight[j].item<double>() - static_cast<double>(w)) <= 4e-15);
    const at::Tensor gradient =
        differentiate(at::one_hot(at::scalar_tensor(j, at::kLong), 25).to(at::kDouble), score, pairs);
    const auto to_top = static_cast<double>(w * (1 - w) * slope(a)),
               to_partner = static_cast<double>(-w * (1 - w) * slope(b));
    CHECK(std::abs(gradient[a].item<double>() / to_top - 1) <= 1.5e-14);
    CHECK(std::abs(gradient[b].item<double>() / to_partner - 1) <= 1.5e-14);
  }
}

}  // namespace geosft::test::sample_cases
