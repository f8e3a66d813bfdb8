// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "geometry/operators.h"
#include "models/ops/sample_pairs.h"
#include "tests/models/ops/sample_cases.h"
#include "tests/support.h"

namespace geosft::test::test_pair_weight {

TEST_CASE("weights and gradients of very negative scores are exact to rounding", "[sample_pairs]") {
  sample_cases::require_tail(
      [](const at::Tensor& score, const SampledPairs& pairs) { return pair_weight(score, pairs, 1.0); },
      [](const at::Tensor& grad_output, const at::Tensor& score, const SampledPairs& pairs) {
        const at::Tensor leaf = score.clone().requires_grad_(true);
        pair_weight(leaf, pairs, 1.0).backward(grad_output);
        return leaf.grad();
      });
}

TEST_CASE("sample_pairs and its weights compute half-precision scores in float32", "[sample_pairs]") {
  const at::Tensor ptr = longs({0, 5, 5, 12}), seeds = longs({1, 2, 3});
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    const auto weigh = [&](const at::Tensor& score) {
      const at::Tensor leaf = score.detach().requires_grad_();
      const auto [top, partner, weight, sample_ptr] = sample_pairs(leaf, 3, ptr, true, true, 1.0, {}, seeds);
      return std::tuple{top, partner, weight, torch::autograd::grad({weight.sum()}, {leaf})[0]};
    };
    const at::Tensor score = at::randn({12}, generator(21)).to(type);
    const auto [top, partner, weight, grad] = weigh(score);
    const auto [exact_top, exact_partner, exact_weight, exact_grad] = weigh(score.to(at::kFloat));
    require_equal(top, exact_top, "top");
    require_equal(partner, exact_partner, "partner");
    require_equal(weight, exact_weight.to(type), "weight");
    require_equal(grad, exact_grad.to(type), "gradient");
  }
}

TEST_CASE("pairs that are no rows of score are refused", "[sample_pairs]") {
  const at::Tensor score = at::zeros({3}), noise = at::zeros({2, 2}), good = longs({0, 2}), bad = longs({0, 3});
  require_error([&] { pair_weight(score, {bad, good, noise, {}}, 1.0); }, {"top", "0 to 2"});
  require_error([&] { pair_weight(score, {good, longs({-1, 0}), noise, {}}, 1.0); }, {"partner", "0 to 2"});
  require_error([&] { pair_weight(score, {good, good, at::zeros({2, 3}), {}}, 1.0); }, {"noise", "[2, K]"});
  const at::Tensor strided = longs({0, 9, 2, 9}).slice(0, 0, 4, 2);
  const at::Tensor other = longs({1, 1});
  require_equal(pair_weight(at::arange(3, at::kFloat), {strided, other, noise, {}}, 1.0),
                pair_weight(at::arange(3, at::kFloat), {good, other, noise, {}}, 1.0), "strided");
}

TEST_CASE("the backward operator of pair weights refuses a gradient of another length", "[sample_pairs]") {
  using Backward =
      at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
  const auto op = find_operator<Backward>("_pair_weight_backward");
  const at::Tensor score = at::ones({3}), top = at::tensor({0, 1}, at::kLong), partner = at::tensor({2, 2}, at::kLong);
  const at::Tensor noise = at::zeros({2, 2});
  CHECK(op.call(at::ones({2}), score, top, partner, noise, 1.0).sizes() == score.sizes());
  for (const at::Tensor& grad : {at::ones({1}), at::ones({3}), at::ones({0}), at::ones({2, 1}), at::scalar_tensor(1)}) {
    require_error([&] { op.call(grad, score, top, partner, noise, 1.0); }, {"grad_weight must be [K]"});
  }
  require_error([&] { op.call(at::ones({2}, at::kDouble), score, top, partner, noise, 1.0); },
                {"grad_weight must be [K] with the dtype of score", "Double"});
  require_error([&] { op.call(at::ones({2}), score, top, partner, noise, 0.0); }, {"tau must be"});
}

}  // namespace geosft::test::test_pair_weight
