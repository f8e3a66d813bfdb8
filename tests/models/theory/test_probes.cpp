// SPDX-License-Identifier: Apache-2.0
// What the theorems of the SFT paper say of attention, on the operators themselves.
#include "models/theory/probes.h"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_probes {

TEST_CASE("the leaky relu probability is pseudoconvex in each orthant, softmax is not", "[sft]") {
  constexpr int64_t pairs = 5000, keys = 5;
  const at::Tensor x1 = normal({pairs, keys}, 1), x2 = normal({pairs, keys}, 2).abs() * x1.sign();  // theorem B.5
  REQUIRE(contradictions(leaky_relu_probability, x1, x2).empty());
  const auto found = contradictions(softmax_probability, x1, x2);
  REQUIRE_FALSE(found.empty());
  for (const Contradiction& one : found) {
    CHECK(one.slope >= 0);
    CHECK(one.after < one.before);
    CHECK(softmax_probability(x1)[one.row][one.component].item<double>() == Approx(one.before));
  }
}

TEST_CASE("maxout attention is pseudoconvex in its weights in each region, softmax of dot products is not", "[sft]") {
  constexpr int64_t pairs = 4000, keys = 3, width = 3, channels = 2;
  const at::Tensor tokens = normal({1 + keys, width}, 3);
  const at::Tensor w1 = normal({pairs, 2 * width * channels}, 4);
  const at::Tensor w2 = w1 + 0.3 * normal({pairs, 2 * width * channels}, 5);
  const at::Tensor same = in_one_region(tokens, w1, w2);
  REQUIRE(same.sum().item<int64_t>() > pairs / 10);
  REQUIRE(same.sum().item<int64_t>() < pairs);
  const at::Tensor x1 = w1.index({same}), x2 = w2.index({same});
  const auto maxout = [&](const at::Tensor& w) { return leaky_relu_probability(maxout_scores_of_weights(tokens, w)); };
  const auto dot = [&](const at::Tensor& w) { return softmax_probability(dot_scores_of_weights(tokens, w)); };
  CHECK(contradictions(maxout, x1, x2).empty());      // theorems B.6 and B.8
  CHECK(contradictions(dot, x1, x2).size() > 100);    // theorem B.3
  CHECK(contradictions(maxout, w1, w2).size() > 10);  // across regions there is no such theorem
}

TEST_CASE("scores of weights are those of the queries and keys", "[sft]") {
  const at::Tensor tokens = normal({4, 3}, 6), weights = normal({2, 12}, 7);
  for (int64_t row = 0; row < 2; ++row) {
    const at::Tensor w_q = weights[row].slice(0, 0, 6).view({3, 2}), w_k = weights[row].slice(0, 6).view({3, 2});
    for (int64_t key = 0; key < 3; ++key) {
      const at::Tensor q = at::matmul(tokens[0], w_q), k = at::matmul(tokens[1 + key], w_k);
      const auto score = [&](const at::Tensor& all) { return all[row][key].item<double>(); };
      CHECK(score(maxout_scores_of_weights(tokens, weights)) == Approx(at::maximum(q, k).sum().item<double>()));
      CHECK(score(dot_scores_of_weights(tokens, weights)) == Approx(at::dot(q, k).item<double>() / std::sqrt(2.0)));
    }
  }
}

TEST_CASE("softmax with X = W_V = I has the counterexample of theorem B.2", "[sft]") {
  // From (1, 2, 2) to (1, 3, 1) the gradient of the first component says that nothing changes.
  const at::Tensor x1 = at::tensor({1.0, 2.0, 2.0}, at::kDouble).view({1, 3}),
                   x2 = at::tensor({1.0, 3.0, 1.0}, at::kDouble).view({1, 3});
  const auto slope = [&](const ProbabilityMap& probability) {
    const at::Tensor leaf = x1.clone().requires_grad_(true);
    const at::Tensor gradient = torch::autograd::grad({probability(leaf)[0][0]}, {leaf})[0];
    return (gradient * (x2 - x1)).sum().item<double>();
  };
  const auto change = [&](const ProbabilityMap& probability) {
    return (probability(x2) - probability(x1))[0][0].item<double>();
  };
  REQUIRE(std::abs(slope(softmax_probability)) < 1e-15);
  REQUIRE(change(softmax_probability) < -0.03);
  REQUIRE(std::abs(slope(leaky_relu_probability)) < 1e-15);
  REQUIRE(std::abs(change(leaky_relu_probability)) < 1e-15);
}

TEST_CASE("the gradient of W_V grows with the number of tokens, that of W_Q hardly does", "[sft]") {
  // Theorem 4.3: Theta(n) and Theta(1). Seen where tokens are correlated and wide (d > n).
  const GradientNorms few = gradient_norms(8, 256), many = gradient_norms(128, 256);
  const auto exponent = [](double from, double to) { return std::log(to / from) / std::log(16.0); };
  INFO("exponents: W_Q " << exponent(few.query, many.query) << ", W_V " << exponent(few.value, many.value));
  CHECK(exponent(few.value, many.value) == Approx(1.0).margin(0.1));
  CHECK(std::abs(exponent(few.query, many.query)) < 0.25);
}

TEST_CASE("equal tokens become different under the leaky relu, and stay equal without the leak", "[sft]") {
  // Wide tokens, so that every row has a positive score: without one, a row of relu(S) / sum relu(S) is 0.
  RankInjection options{.tokens = 24, .width = 512, .layers = 12, .every = 4};
  for (const uint64_t seed : {0, 1, 2}) {
    options.seed = seed;
    options.leak = true;
    const std::vector<DepthRank> leaky = rank_injection(options);
    options.leak = false;
    const std::vector<DepthRank> closed = rank_injection(options);
    REQUIRE(leaky.size() == 4);
    CHECK(leaky.front().rank == 1);
    CHECK(leaky[1].rank > 1);
    CHECK(leaky.back().depth == 12);
    CHECK(leaky.back().rank > 12);
    for (const DepthRank& one : closed) CHECK(one.rank == 1);
  }
}

TEST_CASE("feed-forward networks neither make equal tokens different nor keep the rank down", "[sft]") {
  RankInjection options{.tokens = 24, .width = 256, .layers = 6, .every = 2, .feed_forward = true};
  for (const uint64_t seed : {0, 1}) {
    options.seed = seed;
    options.leak = true;
    CHECK(rank_injection(options).back().rank > 12);
    options.leak = false;
    for (const DepthRank& one : rank_injection(options)) CHECK(one.rank == 1);
  }
}

TEST_CASE("the rank of tokens is that of the matrix, to rounding", "[sft]") {
  CHECK(numerical_rank(normal({20, 8}, 4)) == 8);
  CHECK(numerical_rank(normal({20, 3}, 5).matmul(normal({3, 8}, 6))) == 3);
  CHECK(numerical_rank(at::ones({20, 8}, at::kFloat)) == 1);
}

TEST_CASE("the mean cosine is that of all pairs", "[sft]") {
  const at::Tensor tokens = at::tensor({2.0, 0.0, 0.0, 3.0, 1.0, 1.0}, at::kDouble).view({3, 2});
  CHECK(mean_cosine(tokens) == Approx((0.0 + 2 * std::sqrt(0.5)) / 3));
  CHECK(mean_cosine(at::ones({5, 4})) == Approx(1.0));
  require_error([] { mean_cosine(at::ones({1, 4})); }, {"tokens", "two"});
}

}  // namespace geosft::test::test_probes
