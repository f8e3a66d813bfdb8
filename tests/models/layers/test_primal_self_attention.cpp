// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_self_attention.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/optim/adam.h>

#include <catch2/catch.hpp>

#include "models/ops/primal_attention.h"
#include "tests/models/layers/affine_loss.h"
#include "tests/models/layers/double_layer.h"
#include "tests/support.h"

namespace geosft::test::test_primal_self_attention {
namespace {

constexpr int64_t kWidth = 12, kHeads = 3;

PrimalSelfAttention layer_of(const PrimalOptions& options) {
  return double_layer<PrimalSelfAttention>(kWidth, kHeads, options);
}

at::Tensor tokens() {
  return at::randn({26, kWidth}, generator(1), at::kDouble);
}
at::Tensor items() {
  return at::tensor({0, 5, 5, 26}, at::kLong);
}

at::Tensor run(const PrimalOptions& options, const RelativeEncoding& relative = RelativeEncoding::none()) {
  return layer_of(options)->forward(tokens(), items(), relative);
}

// Softmax attention of the layer's maps, written out.
at::Tensor plain_softmax() {
  PrimalSelfAttention layer = layer_of({});
  const at::Tensor x = tokens();
  std::vector<at::Tensor> parts;
  for (const auto& [begin, end] : {std::pair(0, 5), std::pair(5, 26)}) {
    const at::Tensor rows = x.slice(0, begin, end);
    const auto heads = [&](torch::nn::Linear& map) { return map->forward(rows).view({rows.size(0), kHeads, -1}); };
    const at::Tensor score = at::einsum("ihc,jhc->hij", {heads(layer->query), heads(layer->key)}) / 2.0;
    parts.push_back(at::einsum("hij,jhc->ihc", {score.softmax(-1), heads(layer->value)}).flatten(1));
  }
  return layer->output->forward(at::cat(parts));
}

}  // namespace

TEST_CASE("options without effect give softmax attention", "[primal_self_attention]") {
  // Measured over 1,000 seeds, at most: 8.8e-16 where 1e-12 is allowed.
  const at::Tensor expected = plain_softmax();
  require_close(run({}), expected, 1e-12, "softmax");
  require_close(run({.learn_beta = true}), expected, 1e-12, "beta 0");
  require_close(run({.pool = {1, 1, 1}}), expected, 1e-12, "factors of 1");
  require_close(run({.mask = MaskKind::window, .mask_size = 30}), expected, 1e-12, "a full mask");
  const at::Tensor linear = run({.linear = true});
  require_close(run({.linear = true, .learn_beta = true}), linear, 1e-12, "linear, beta 0");
  require_close(run({.linear = true, .pool = {1, 1, 1}}), linear, 1e-12, "linear, factors of 1");
}

TEST_CASE("a convolution kernel of size one with weight 1 is the identity", "[primal_self_attention]") {
  // Measured: the same bits where 1e-12 is allowed.
  const auto with_one = [](PrimalOptions options, const std::optional<at::Tensor>& ptr) {
    options.convolution_size = 1;
    PrimalSelfAttention layer = layer_of(options);
    at::NoGradGuard guard;
    layer->convolution.fill_(1.0);
    return layer->forward(tokens(), ptr, RelativeEncoding::none());
  };
  for (const bool linear : {false, true}) {
    require_close(with_one({.linear = linear, .convolution = ConvolutionKind::sequence}, items()),
                  run({.linear = linear}), 1e-12, "on a line");
    require_close(with_one({.linear = linear, .convolution = ConvolutionKind::grid, .grid_height = 2, .grid_width = 13},
                           std::nullopt),
                  layer_of({.linear = linear})->forward(tokens(), std::nullopt, RelativeEncoding::none()), 1e-12,
                  "on a grid");
  }
}

TEST_CASE("pooling before the maps is pooling of keys and values", "[primal_self_attention]") {
  // Measured over 1,000 seeds, at most: 8.8e-16 where 1e-12 is allowed.
  for (const bool linear : {false, true}) {
    PrimalSelfAttention layer = layer_of({.linear = linear, .beta = 0.7, .pool = {2, 1, 2}});
    const at::Tensor x = tokens(), ptr = items();
    const auto heads = [&](torch::nn::Linear& map) { return map->forward(x).view({26, kHeads, -1}); };
    const std::vector<int64_t> pool{2, 1, 2};
    const at::Tensor mixed = primal_attention(heads(layer->query), heads(layer->key), heads(layer->value), layer->beta,
                                              pool, linear ? "linear" : "softmax", 1e-6, ptr, ptr);
    require_close(layer->forward(x, ptr, RelativeEncoding::none()), layer->output->forward(mixed.flatten(1)), 1e-12,
                  "layer");
  }
}

TEST_CASE("masks follow their definition", "[primal_self_attention]") {
  // Measured over 1,000 seeds, at most: 8.8e-16 where 1e-12 is allowed.
  const at::Tensor points = at::randn({26, 3}, generator(5), at::kDouble);
  const at::Tensor rowptr = at::arange(27, at::kLong), col = at::arange(26, at::kLong);
  const RelativeEncoding cloud = RelativeEncoding::points(points),
                         loops = RelativeEncoding::graph(rowptr, col, at::ones({26, 1}));
  require_close(run({.mask = MaskKind::nearest, .mask_size = 26}, cloud), plain_softmax(), 1e-12, "all points");
  PrimalSelfAttention layer = layer_of({.mask = MaskKind::neighbours});
  require_close(layer->forward(tokens(), items(), loops), layer->output->forward(layer->value->forward(tokens())),
                1e-12, "a node without neighbours sees itself");
  for (const MaskKind kind : {MaskKind::strided, MaskKind::block}) {
    require_close(run({.mask = kind, .mask_size = 30}), plain_softmax(), 1e-12, "one block, one stride");
    REQUIRE_FALSE(at::allclose(run({.mask = kind, .mask_size = 3}), plain_softmax()));
  }
  const at::Tensor pooled = run({.mask = MaskKind::window, .mask_size = 30, .pool = {2, 1, 4}});
  require_close(pooled, run({.pool = {2, 1, 4}}), 1e-12, "a full mask of pooled keys");
  require_error([&] { run({.mask = MaskKind::nearest}); }, {"relative", "coordinates"});
  require_error([&] { run({.mask = MaskKind::neighbours}); }, {"relative", "graph"});
}

TEST_CASE("a beta of all heads is that of each, and has the gradients of all of them", "[primal_self_attention]") {
  // Measured over 1,000 seeds, at most: 2.5e-14 where 1e-12 is allowed.
  const auto learned = [](bool shared) {
    PrimalSelfAttention layer = layer_of({.beta = 0.4, .learn_beta = true, .share_beta = shared, .pool = {1, 2, 1}});
    const at::Tensor out = layer->forward(tokens(), items(), RelativeEncoding::none());
    out.square().sum().backward();
    return std::pair(out.detach(), layer->beta.grad());
  };
  const auto [out, gradient] = learned(true);
  const auto [out_of_heads, gradient_of_heads] = learned(false);
  REQUIRE(gradient.dim() == 0);
  REQUIRE(gradient_of_heads.sizes() == at::IntArrayRef({kHeads}));
  require_close(out, out_of_heads, 1e-12, "result");
  require_close(gradient, gradient_of_heads.sum(), 1e-12, "gradient");
  require_error([] { layer_of({.share_beta = true}); }, {"share_beta"});
}

TEST_CASE("every pooling and convolution learns", "[primal_self_attention]") {
  std::vector<PrimalOptions> all;
  for (const PoolingKind pooling :
       {PoolingKind::average, PoolingKind::max, PoolingKind::convolution, PoolingKind::k_means}) {
    all.push_back({.beta = 0.5, .learn_beta = true, .pool = {1, 2, 4}, .pooling = pooling});
  }
  all.push_back({.beta = 0.5, .learn_beta = true, .share_beta = true, .pool = {1, 2, 4}});
  all.push_back({.variance = true, .pool = {2, 1, 1}});
  all.push_back({.linear = true, .convolution = ConvolutionKind::sequence, .convolution_size = 4});
  const at::Tensor target = at::randn({26, kWidth}, generator(2), at::kDouble);
  const double of_single_tokens = best_affine_loss(tokens(), target);
  for (const PrimalOptions& options : all) {
    PrimalSelfAttention layer = layer_of(options);
    torch::optim::Adam optimizer(layer->parameters(), torch::optim::AdamOptions(0.02));
    std::vector<double> losses;
    for (int step = 0; step < 150; ++step) {
      const at::Tensor loss = (layer->forward(tokens(), items(), RelativeEncoding::none()) - target).square().mean();
      losses.push_back(loss.item<double>());
      optimizer.zero_grad();
      loss.backward();
      for (const auto& named : layer->named_parameters()) {
        INFO(named.key());
        REQUIRE(named.value().grad().defined());
        if (step == 0) REQUIRE(named.value().grad().abs().max().item<double>() > 1e-9);
      }
      optimizer.step();
    }
    REQUIRE(losses.front() > of_single_tokens);
    REQUIRE(losses.back() < of_single_tokens);
  }
}

TEST_CASE("a convolution on the grid wants items of that size", "[primal_self_attention]") {
  PrimalSelfAttention layer =
      layer_of({.convolution = ConvolutionKind::grid, .convolution_size = 2, .grid_height = 2, .grid_width = 13});
  REQUIRE(layer->forward(tokens(), std::nullopt, RelativeEncoding::none()).size(0) == 26);
  require_error([&] { layer->forward(tokens(), items(), RelativeEncoding::none()); },
                {"ptr", "2 x 13", "item 0 has 5"});
}

TEST_CASE("the rows of a trace times the values are what the heads mix", "[primal_self_attention][trace]") {
  // Measured over 1,000 seeds, at most: 1.1e-15 where 1e-12 is allowed, and 1.1e-7 where 1e-5 is allowed.
  at::NoGradGuard guard;
  const at::Tensor x = tokens();
  std::vector<PrimalOptions> all = {{.pool = {1, 2, 4}, .pooling = PoolingKind::k_means},
                                    {.mask = MaskKind::window, .mask_size = 2, .pool = {4, 1, 2}}};
  for (const std::string& name : primal_names()) all.push_back(primal_options(name, kHeads));
  for (PrimalOptions& options : all) {
    if (options.convolution == ConvolutionKind::grid) options.grid_height = 2, options.grid_width = 13;
    PrimalSelfAttention layer = layer_of(options);
    const AttentionTrace trace = layer->trace(x, std::nullopt, RelativeEncoding::none());
    CHECK(trace.tokens == 26);
    CHECK_FALSE(trace.samples());
    const at::Tensor rows = attention_rows(trace, 0, 26);
    REQUIRE(rows.sizes() == at::IntArrayRef({26, 26, kHeads}));
    const at::Tensor values = layer->value->forward(x).view({26, kHeads, -1});
    const at::Tensor mixed = at::einsum("ijh,jhc->ihc", {rows, values}).flatten(1);
    require_close(layer->output->forward(mixed), layer->forward(x, std::nullopt, RelativeEncoding::none()), 1e-5,
                  "mixed");
    require_close(rows.sum(1), at::ones({26, kHeads}, at::kDouble), 1e-5, "sums");
    require_close(attention_rows(trace, 7, 3), rows.narrow(0, 7, 3), 1e-12, "some rows");
    require_close(attention_on_tokens(trace, 9), rows[9], 1e-12, "one row");
  }
  const AttentionTrace packed = layer_of({})->trace(x, items(), RelativeEncoding::none());
  require_error([&] { attention_rows(packed, 0, 1); }, {"one item", "3"});
}

TEST_CASE("attention to empty clusters falls on no token", "[primal_self_attention][trace]") {
  // Measured: the same bits where 1e-6 is allowed.
  at::NoGradGuard guard;
  PrimalSelfAttention layer = layer_of({.pool = {1, 2, 4}, .pooling = PoolingKind::k_means});
  const AttentionTrace trace = layer->trace(at::ones({8, 12}, at::kDouble), std::nullopt, RelativeEncoding::none());
  const at::Tensor given = attention_rows(trace, 0, 8).sum(1);  // of equal tokens one of 8, 4 and 2 clusters has all
  require_close(given, at::tensor({1.0, 0.25, 0.5}, at::kDouble).expand({8, kHeads}), 1e-6, "sums");
}

TEST_CASE("options that contradict each other are refused", "[primal_self_attention]") {
  require_error([] { PrimalSelfAttention(10, 3, PrimalOptions{}); }, {"heads", "3"});
  require_error([] { layer_of({.pool = {1, 2}}); }, {"pool", "3", "2"});
  require_error([] { layer_of({.pool = {1, 2, 0}}); }, {"pool", "0"});
  require_error([] { layer_of({.linear = true, .mask = MaskKind::window}); }, {"mask", "linear"});
  require_error(
      [] {
        layer_of({.mask = MaskKind::window, .pool = {1, 2, 2}, .pooling = PoolingKind::k_means});
      },
      {"pooling", "k_means", "mask"});
  require_error([] { layer_of({.pool = {1, 2, 2}, .convolution = ConvolutionKind::grid}); }, {"pool", "grid"});
  require_error([] { layer_of({.convolution = ConvolutionKind::grid}); }, {"grid_height"});
  require_error([] { layer_of({.beta = 0.5, .variance = true}); }, {"beta", "variance"});
  require_error([] { layer_of({.convolution_size = 0}); }, {"convolution_size"});
  require_error([] { layer_of({})->forward(at::zeros({3, 5}), std::nullopt, RelativeEncoding::none()); }, {"x", "12"});
}

}  // namespace geosft::test::test_primal_self_attention
