// SPDX-License-Identifier: Apache-2.0
// What the theorems of the SFT paper say of attention, on the operators themselves.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "models/layers/composed_attention.h"
#include "models/ops/maxout_attention.h"
#include "tests/support.h"

namespace geosft::test::test_sft_properties {
namespace {

at::Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  return at::randn(shape, generator(seed), at::kDouble);
}

at::Tensor identity(int64_t keys) {
  return at::eye(keys, at::kDouble).view({keys, 1, keys});
}

// From scores S [n, k] to probabilities P [n, k]: V is the identity.
using Probability = std::function<at::Tensor(const at::Tensor&)>;

// By maxout_attention, whose maxout term is made to vanish.
at::Tensor leaky_relu(const at::Tensor& scores) {
  const int64_t n = scores.size(0), keys = scores.size(1);
  const at::Tensor q = at::zeros({n, 1, 1}, at::kDouble), k = at::zeros({keys, 1, 1}, at::kDouble);
  const at::Tensor leak = at::linspace(-1, 1, keys, at::kDouble).view({keys, 1});
  return maxout_attention(q, k, identity(keys), leak, std::nullopt, scores.reshape({n * keys, 1})).view({n, keys});
}

// By scaled scalar products with sqrt(k) times the unit vectors.
at::Tensor softmax(const at::Tensor& scores) {
  const int64_t n = scores.size(0), keys = scores.size(1);
  const ComposedAttention attention{ScoreKind::dot, ProbabilityKind::softmax, 0.0};
  const at::Tensor k = identity(keys) * std::sqrt(static_cast<double>(keys)), leak = at::zeros({keys, 1}, at::kDouble);
  return attention(scores.view({n, 1, keys}), k, identity(keys), leak, Relative::none(), {}, {}, {}, {})
      .view({n, keys});
}

// Of pairs (x1, x2) of rows, those that contradict pseudoconvexity of a component f of P: <grad f(x1), x2 - x1> >= 0,
// but f(x2) < f(x1).
int64_t contradictions(const Probability& probability, const at::Tensor& x1, const at::Tensor& x2) {
  int64_t found = 0;
  for (int64_t component = 0; component < x1.size(1); ++component) {
    const at::Tensor leaf = x1.clone().requires_grad_(true);
    const at::Tensor before = probability(leaf).select(1, component);
    const at::Tensor gradient = torch::autograd::grad({before.sum()}, {leaf})[0];
    const at::Tensor slope = (gradient * (x2 - x1)).sum(1), after = probability(x2).select(1, component);
    found += at::logical_and(slope >= 1e-12, after < before.detach() - 1e-12).sum().item<int64_t>();
  }
  return found;
}

// E |d out / d W|^2 (Frobenius) of W_Q and W_V at initialisation, all n tokens being keys, by random signs as upstream
// gradients. Tokens share a part of their norm, the leak is closed.
struct GradientNorms {
  double query = 0.0, value = 0.0;
};
GradientNorms gradient_norms(int64_t n, int64_t width) {
  constexpr int64_t draws = 4, probes = 3;
  GradientNorms norms;
  for (uint64_t draw = 0; draw < draws; ++draw) {
    const double shared = std::sqrt(0.5);
    const at::Tensor x = shared * normal({1, width}, 10 * draw + 1) + shared * normal({n, width}, 10 * draw + 2);
    const auto weight = [&](uint64_t seed) {
      return (normal({width, width}, 10 * draw + seed) / std::sqrt(static_cast<double>(width))).requires_grad_(true);
    };
    const at::Tensor query = weight(3), key = weight(4), value = weight(5);
    const auto head = [&](const at::Tensor& w) { return at::matmul(x, w).view({n, 1, width}); };
    const at::Tensor closed = at::full({n, 1}, -std::numeric_limits<double>::infinity(), at::kDouble);
    const at::Tensor out = maxout_attention(head(query), head(key), head(value), closed);
    for (uint64_t probe = 0; probe < probes; ++probe) {
      const at::Tensor signs = normal(out.sizes(), 1000 + probe).sign();
      const auto gradients = torch::autograd::grad({out}, {query, value}, {signs}, /*retain_graph=*/true);
      norms.query += gradients[0].square().sum().item<double>() / (draws * probes);
      norms.value += gradients[1].square().sum().item<double>() / (draws * probes);
    }
  }
  return norms;
}

}  // namespace

TEST_CASE("the leaky relu probability is pseudoconvex in each orthant, softmax is not", "[sft]") {
  constexpr int64_t pairs = 5000, keys = 5;
  const at::Tensor x1 = normal({pairs, keys}, 1), x2 = normal({pairs, keys}, 2).abs() * x1.sign();  // theorem B.5
  REQUIRE(contradictions(leaky_relu, x1, x2) == 0);
  REQUIRE(contradictions(softmax, x1, x2) > 0);
}

TEST_CASE("softmax with X = W_V = I has the counterexample of theorem B.2", "[sft]") {
  // From (1, 2, 2) to (1, 3, 1) the gradient of the first component says that nothing changes.
  const at::Tensor x1 = at::tensor({1.0, 2.0, 2.0}, at::kDouble).view({1, 3}),
                   x2 = at::tensor({1.0, 3.0, 1.0}, at::kDouble).view({1, 3});
  const auto slope = [&](const Probability& probability) {
    const at::Tensor leaf = x1.clone().requires_grad_(true);
    const at::Tensor gradient = torch::autograd::grad({probability(leaf)[0][0]}, {leaf})[0];
    return (gradient * (x2 - x1)).sum().item<double>();
  };
  const auto change = [&](const Probability& probability) {
    return (probability(x2) - probability(x1))[0][0].item<double>();
  };
  REQUIRE(std::abs(slope(softmax)) < 1e-15);
  REQUIRE(change(softmax) < -0.03);
  REQUIRE(std::abs(slope(leaky_relu)) < 1e-15);
  REQUIRE(std::abs(change(leaky_relu)) < 1e-15);
}

TEST_CASE("the gradient of W_V grows with the number of tokens, that of W_Q hardly does", "[sft]") {
  // Theorem 4.3: Theta(n) and Theta(1). Seen where tokens are correlated and wide (d > n).
  const GradientNorms few = gradient_norms(8, 256), many = gradient_norms(128, 256);
  const auto exponent = [](double from, double to) { return std::log(to / from) / std::log(16.0); };
  INFO("exponents: W_Q " << exponent(few.query, many.query) << ", W_V " << exponent(few.value, many.value));
  CHECK(exponent(few.value, many.value) == Approx(1.0).margin(0.1));
  CHECK(std::abs(exponent(few.query, many.query)) < 0.25);
}

}  // namespace geosft::test::test_sft_properties
