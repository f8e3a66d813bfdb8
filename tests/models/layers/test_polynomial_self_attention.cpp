// SPDX-License-Identifier: Apache-2.0
#include "models/layers/polynomial_self_attention.h"

#include <ATen/Context.h>
#include <torch/optim/adam.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/non_finite_error.h"
#include "tests/models/layers/double_layer.h"
#include "tests/support.h"

namespace geosft::test::test_polynomial_self_attention {
namespace {

constexpr int64_t kWidth = 12, kHeads = 3;

PolynomialSelfAttention layer_of(const PolynomialOptions& options) {
  return double_layer<PolynomialSelfAttention>(kWidth, kHeads, options);
}

// Softmax attention of each item with the maps of the layer.
at::Tensor exact(PolynomialSelfAttention& layer, const at::Tensor& x, const std::vector<int64_t>& offsets,
                 bool causal) {
  const double channels = static_cast<double>(kWidth) / kHeads;
  std::vector<at::Tensor> items;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const at::Tensor rows = x.slice(0, offsets[b], offsets[b + 1]);
    const auto heads = [&](torch::nn::Linear& map) { return map->forward(rows).view({rows.size(0), kHeads, -1}); };
    at::Tensor score = at::einsum("ihc,jhc->hij", {heads(layer->query), heads(layer->key)}) /
                       (layer->options.score_scale == ScoreScale::inverse ? channels : std::sqrt(channels));
    if (causal) score = score.masked_fill(at::ones_like(score).tril() == 0, -INFINITY);
    const at::Tensor mixed = at::einsum("hij,jhc->ihc", {score.softmax(-1), heads(layer->value)});
    items.push_back(layer->output->forward(mixed.reshape({rows.size(0), kWidth})));
  }
  return at::cat(items, 0);
}

}  // namespace

TEST_CASE("the layer approaches softmax attention, gradients included", "[polynomial_self_attention]") {
  // The tokens are small, so that the polynomial leaves out little. Measured over 1,000 seeds, at most: 1.6e-11 where
  // 1e-9 is allowed, and 6.7e-10 where 2e-8 is allowed.
  const at::Tensor ptr = at::tensor({0, 5, 26}, at::kLong),
                   grad_output = at::randn({26, kWidth}, generator(2), at::kDouble);
  for (const bool causal : {false, true}) {
    PolynomialSelfAttention layer = layer_of({.degree = 12, .causal = causal});
    const at::Tensor x = (at::randn({26, kWidth}, generator(1), at::kDouble) / 2).requires_grad_(true);
    const at::Tensor out = layer->forward(x, ptr);
    out.backward(grad_output);
    const at::Tensor gradient = x.grad().clone(), weight_gradient = layer->query->weight.grad().clone();
    x.mutable_grad().zero_();
    layer->zero_grad();
    const at::Tensor expected = exact(layer, x, {0, 5, 26}, causal);
    expected.backward(grad_output);
    require_close(out, expected, 1e-9, "out");
    require_close(gradient, x.grad(), 2e-8, "gradient of x");
    require_close(weight_gradient, layer->query->weight.grad(), 2e-8, "gradient of W_Q");
  }
}

TEST_CASE("polynomial attention divides scores by the channels of a head if asked", "[polynomial_self_attention]") {
  const at::Tensor ptr = at::tensor({0, 5, 26}, at::kLong), x = at::randn({26, kWidth}, generator(1), at::kDouble);
  for (const bool causal : {false, true}) {
    PolynomialOptions options{.degree = 12, .causal = causal, .score_scale = ScoreScale::inverse};
    PolynomialSelfAttention layer = layer_of(options);
    const at::Tensor expected = exact(layer, x, {0, 5, 26}, causal);
    require_close(layer->forward(x, ptr), expected, 1e-8, "out");
    options.tolerance = 1e-12;
    options.max_monomials = 1;
    options.or_exact = true;
    PolynomialSelfAttention falls_back = layer_of(options);
    require_close(falls_back->forward(x, ptr), expected, 1e-12, "exact");
    // Half the scale, half the bound on the scores: a head has four channels.
    PolynomialSelfAttention usual = layer_of({.degree = 12, .causal = causal});
    CHECK(layer->degree_for(x, ptr).bound == Approx(usual->degree_for(x, ptr).bound / 2));
    const at::Tensor rows = attention_rows(layer->trace(x.slice(0, 0, 5), std::nullopt), 0, 5);
    const at::Tensor values = layer->value->forward(x.slice(0, 0, 5)).view({5, kHeads, -1});
    const at::Tensor mixed = at::einsum("ijh,jhc->ihc", {rows, values}).flatten(1);
    require_close(layer->output->forward(mixed), expected.slice(0, 0, 5), 1e-8, "trace");
  }
}

TEST_CASE("the rows of a trace of polynomial attention times the values are what the heads mix",
          "[polynomial_self_attention][trace]") {
  // Measured over 1,000 seeds, at most: 1.5e-15 where 1e-12 is allowed, and 1.7e-15 where 1e-9 is allowed.
  at::NoGradGuard guard;
  const at::Tensor x = at::randn({26, kWidth}, generator(1), at::kDouble);
  for (const bool causal : {false, true}) {
    for (const PolynomialOptions& options :
         {PolynomialOptions{.degree = 2, .causal = causal}, PolynomialOptions{.degree = 3, .causal = causal},
          PolynomialOptions{.degree = 2, .causal = causal, .center = false},
          PolynomialOptions{.tolerance = 1e-9, .max_monomials = 1, .or_exact = true, .causal = causal}}) {
      PolynomialSelfAttention layer = layer_of(options);
      const AttentionTrace trace = layer->trace(x, std::nullopt);
      const at::Tensor rows = attention_rows(trace, 0, 26);
      const at::Tensor values = layer->value->forward(x).view({26, kHeads, -1});
      const at::Tensor mixed = at::einsum("ijh,jhc->ihc", {rows, values}).flatten(1);
      require_close(layer->output->forward(mixed), layer->forward(x, std::nullopt), 1e-9, "mixed");
      require_close(attention_rows(trace, 7, 3), rows.narrow(0, 7, 3), 1e-12, "some rows");
      CHECK((rows[3].slice(0, 4).abs().max().item<double>() == 0) == causal);
    }
  }
}

TEST_CASE("with a tolerance the layer takes the degree that holds it", "[polynomial_self_attention]") {
  // Measured over 1,000 seeds, at most: 2.4e-6 where 0.001 is allowed.
  const at::Tensor x = at::randn({40, kWidth}, generator(1), at::kDouble);
  PolynomialSelfAttention layer = layer_of({.tolerance = 1e-3, .max_monomials = 100000});
  const PolynomialDegree chosen = layer->degree_for(x, std::nullopt);
  REQUIRE_FALSE(chosen.exact);
  REQUIRE(chosen.error <= 1e-3);
  // The tolerance that was asked for.
  require_close(layer->forward(x, std::nullopt), exact(layer, x, {0, 40}, false), 1e-3, "out");
  PolynomialSelfAttention fixed = layer_of({.degree = chosen.degree});
  require_equal(layer->forward(x, std::nullopt), fixed->forward(x, std::nullopt), "degree");
  REQUIRE(fixed->degree_for(x, std::nullopt).error == Approx(chosen.error));
}

TEST_CASE("where a tolerance takes too many monomials the layer is exact or refuses", "[polynomial_self_attention]") {
  // Measured over 1,000 seeds, at most: 3.7e-14 where 1e-12 is allowed.
  const at::Tensor x = 30 * at::randn({26, kWidth}, generator(1), at::kDouble),
                   ptr = at::tensor({0, 5, 5, 26}, at::kLong);
  for (const bool causal : {false, true}) {
    PolynomialSelfAttention layer = layer_of({.tolerance = 1e-3, .or_exact = true, .causal = causal});
    REQUIRE(layer->degree_for(x, ptr).exact);
    require_close(layer->forward(x, ptr), exact(layer, x, {0, 5, 26}, causal), 1e-12, "exact");
  }
  PolynomialSelfAttention strict = layer_of({.tolerance = 1e-3});
  require_error([&] { strict->forward(x, ptr); }, {"tolerance", "rounding"});
  PolynomialSelfAttention few = layer_of({.tolerance = 1e-3, .max_monomials = 9});
  require_error([&] { few->forward(x / 30, ptr); }, {"tolerance", "more than max_monomials 9"});
}

TEST_CASE("the layer counts the rounding of the type that it computes in", "[polynomial_self_attention]") {
  // Scores of 5.6, by tokens of unit variance, are out of reach of float64.
  const at::Tensor x = at::randn({26, kWidth}, generator(1), at::kDouble) / 2;
  PolynomialSelfAttention layer = layer_of({.tolerance = 1e-9, .max_monomials = 100000});
  REQUIRE(layer->degree_for(x, std::nullopt).error <= 1e-9);
  layer->to(at::kFloat);
  require_error([&] { layer->forward(x.to(at::kFloat), std::nullopt); }, {"float32", "rounding"});
  layer->options.or_exact = true;
  REQUIRE(layer->degree_for(x.to(at::kFloat), std::nullopt).exact);
}

TEST_CASE("tokens that are not finite are refused where the degree depends on them", "[polynomial_self_attention]") {
  const at::Tensor x = at::randn({9, kWidth}, generator(1), at::kDouble);
  x[4][2] = std::nan("");
  PolynomialSelfAttention chosen = layer_of({.tolerance = 1e-3}), fixed = layer_of({.degree = 2});
  REQUIRE_THROWS_AS(chosen->forward(x, std::nullopt), NonFiniteError);
  require_error([&] { chosen->forward(x, std::nullopt); }, {"scores", "finite", "nan"});
  REQUIRE(fixed->forward(x, std::nullopt).isnan().all().item<bool>());
  fixed->eval();
  REQUIRE_THROWS_AS(fixed->forward(x, std::nullopt), NonFiniteError);
}

TEST_CASE("layers keep the largest bound that they met, and what it took", "[polynomial_self_attention]") {
  const at::Tensor x = at::randn({40, kWidth}, generator(1), at::kDouble) / 2;
  torch::nn::ModuleList layers(layer_of({.degree = 2}), layer_of({.tolerance = 0.5}));
  const auto forward = [&](const at::Tensor& tokens) {
    for (const auto& layer : *layers) layer->as<PolynomialSelfAttentionImpl>()->forward(tokens, std::nullopt);
  };
  forward(x);
  REQUIRE(worst_degrees(*layers).size() == 1);  // in training, a fixed degree is not looked at
  layers->eval();
  forward(0.5 * x);
  forward(0.1 * x);
  auto* const fixed = layers[0]->as<PolynomialSelfAttentionImpl>();
  REQUIRE(worst_degrees(*layers).size() == 2);
  REQUIRE(fixed->worst->bound == fixed->degree_for(0.5 * x, std::nullopt).bound);
  REQUIRE(fixed->worst->degree == 2);
  REQUIRE(fixed->worst->error == polynomial_error_bound(fixed->worst->bound, 2, kWidth / kHeads, at::kDouble));
  fixed->worst.reset();
  REQUIRE(worst_degrees(*layers).size() == 1);
}

TEST_CASE("a prompt before a frozen layer is tuned by its gradient", "[polynomial_self_attention]") {
  PolynomialSelfAttention layer = layer_of({.degree = 4});
  for (at::Tensor& parameter : layer->parameters()) parameter.requires_grad_(false);
  const at::Tensor tokens = at::randn({20, kWidth}, generator(1), at::kDouble);
  const auto run = [&](const at::Tensor& prompt) {
    return layer->forward(at::cat({prompt, tokens}), std::nullopt).slice(0, 4);
  };
  const at::Tensor target = run(3 * at::randn({4, kWidth}, generator(2), at::kDouble));
  // From zeros its tokens would stay equal, and the loss at 0.3 of the first.
  at::Tensor prompt = (0.1 * at::randn({4, kWidth}, generator(3), at::kDouble)).requires_grad_(true);
  torch::optim::Adam optimizer({prompt}, torch::optim::AdamOptions(0.3));
  std::vector<double> losses;
  for (int step = 0; step < 150; ++step) {
    const at::Tensor loss = (run(prompt) - target).square().mean();
    losses.push_back(loss.item<double>());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  REQUIRE(losses.back() < 0.02 * losses.front());
}

TEST_CASE("errors of the layer name the argument", "[polynomial_self_attention]") {
  require_error([] { PolynomialSelfAttention(10, 3, PolynomialOptions{}); }, {"heads", "3"});
  require_error([] { PolynomialSelfAttention(12, 3, PolynomialOptions{.degree = -1}); }, {"degree"});
  require_error([] { PolynomialSelfAttention(12, 3, PolynomialOptions{.tolerance = -1}); }, {"tolerance"});
  PolynomialSelfAttention layer(12, 3, PolynomialOptions{});
  require_error([&] { layer->forward(at::zeros({3, 5}), std::nullopt); }, {"x", "12"});
}

}  // namespace geosft::test::test_polynomial_self_attention
