// SPDX-License-Identifier: Apache-2.0
#include "models/layers/forward_trace.h"

#include <ATen/core/grad_mode.h>

#include <catch2/catch.hpp>

#include "models/point_classifier.h"
#include "tests/models/small_layer.h"
#include "tests/support.h"

namespace geosft::test::test_forward_trace {
namespace {

PointClassifier classifier() {
  PointClassifierOptions options;
  options.classes = 3;
  options.layer = small_layer(6);
  options.layers = 2;
  options.head_sampler.num_samples = 5;
  manual_seed(7);
  PointClassifier model(options);
  model->to(at::kDouble);
  return model;
}

struct Pass {
  PointClassifier model = classifier();
  at::Tensor points = at::randn({20, 3}, generator(1), at::kDouble);
  at::Tensor normals = at::randn({20, 3}, generator(2), at::kDouble);
  ForwardTrace trace;
  at::Tensor logits;

  Pass() {
    at::NoGradGuard guard;
    SamplingContext context = SamplingContext::seeded();
    context.trace_into(trace);
    logits = model->forward(points, normals, std::nullopt, context);
  }
};

}  // namespace

TEST_CASE("a traced pass leaves every layer's scores, samples and tokens, and changes nothing", "[trace]") {
  Pass pass;
  REQUIRE(pass.trace.layers.size() == 2);
  REQUIRE(pass.trace.tokens.size() == 3);
  for (const AttentionTrace& layer : pass.trace.layers) {
    CHECK(layer.score.sizes() == at::IntArrayRef({20}));
    CHECK(layer.pairs.top.size(0) == 6);
    CHECK(layer.heads == 4);
    CHECK(layer.tokens == 20);
    CHECK(layer.samples());
  }
  CHECK(pass.trace.head.pairs.top.size(0) == 5);
  SamplingContext untraced = SamplingContext::seeded();
  at::NoGradGuard guard;
  require_equal(pass.model->forward(pass.points, pass.normals, std::nullopt, untraced), pass.logits, "logits");
  CHECK(untraced.trace() == nullptr);
}

TEST_CASE("values of tokens go back to the order of the input", "[trace]") {
  Pass pass;
  SamplingContext context = SamplingContext::seeded();
  at::NoGradGuard guard;
  const auto explained = pass.model->explain(pass.points, pass.normals, std::nullopt, context);
  require_equal(pass.trace.in_input_order(pass.trace.head.score), explained.importance, "importance");
  const at::Tensor rows = at::tensor({3, 0}, at::kLong);
  require_equal(pass.trace.input_rows(rows), pass.trace.order.index_select(0, rows), "rows");
}

TEST_CASE("attention rows times values, projected, are what the layer added", "[trace]") {
  // Measured over 1,000 seeds, at most: 9.4e-12 where 1e-9 is allowed.
  Pass pass;
  at::NoGradGuard guard;
  const AttentionTrace& layer = pass.trace.layers[0];
  auto* first = pass.model->encoder->layers[0]->as<TransformerLayer>();
  const at::Tensor x = pass.trace.tokens[0];
  const at::Tensor v = first->attention->value->forward(layer.pairs.sample(x)).view({-1, 4, 4});
  const at::Tensor p = attention_rows(layer, 0, 20);
  const at::Tensor mixed = at::einsum("ijh,jhc->ihc", {p, v}).reshape({20, 16});
  SamplingContext context = SamplingContext::seeded();
  const RelativeEncoding relative = RelativeEncoding::points(pass.points.index_select(0, pass.trace.order),
                                                             pass.normals.index_select(0, pass.trace.order));
  const at::Tensor expected = first->attention->forward(x, relative, std::nullopt, context);
  require_close(first->attention->output->forward(mixed), expected, 1e-9, "attention");
  CHECK((p >= 0).all().item<bool>());
  CHECK((p.sum(1) < 1).all().item<bool>());
  require_equal(attention_rows(layer, 7, 2), p.narrow(0, 7, 2), "some rows");
}

TEST_CASE("the attention to tokens is that of the samples, divided by their weights", "[trace]") {
  // Measured over 1,000 seeds, at most: 2.6e-16 where 1e-12 is allowed.
  Pass pass;
  const AttentionTrace& layer = pass.trace.layers[1];
  const at::Tensor on_tokens = attention_on_tokens(layer, 3), p = attention_rows(layer, 3, 1)[0];
  REQUIRE(on_tokens.sizes() == at::IntArrayRef({20, 4}));
  require_close(on_tokens.sum(0), p.sum(0), 1e-12, "sums");
  const auto top = layer.pairs.top[2].item<int64_t>();
  require_close(on_tokens[top], p[2] * layer.pairs.weight[2], 1e-12, "a top token");
}

TEST_CASE("head diversity is the mean distance between heads, in chunks as in one", "[trace]") {
  Pass pass;
  const AttentionTrace& layer = pass.trace.layers[1];
  const at::Tensor p = attention_rows(layer, 0, 20);
  double expected = 0;
  for (int64_t a = 0; a < 4; ++a) {
    for (int64_t b = 0; b < a; ++b) expected += (p[5].select(1, a) - p[5].select(1, b)).norm().item<double>() / 6;
  }
  const at::Tensor diversity = head_diversity(layer);
  CHECK(diversity.size(0) == 20);
  CHECK(diversity[5].item<double>() == Approx(expected));
}

TEST_CASE("a trace on the CPU is what it was, where a pass left nothing too", "[trace]") {
  const Pass pass;
  const ForwardTrace host = on_host(pass.trace);
  require_equal(host.tokens[1], pass.trace.tokens[1], "tokens");
  require_equal(host.order, pass.trace.order, "order");
  require_equal(host.head.score, pass.trace.head.score, "scores of the head");
  require_equal(host.layers[1].pairs.weight, pass.trace.layers[1].pairs.weight, "weights");
  require_equal(attention_rows(host.layers[1], 3, 5), attention_rows(pass.trace.layers[1], 3, 5), "rows");
  ForwardTrace bare;
  bare.layers.emplace_back();
  CHECK_FALSE(on_host(bare).order.defined());
  CHECK_FALSE(on_host(bare).layers[0].samples());
}

TEST_CASE("rows that are not there and passes over several items are refused", "[trace]") {
  Pass pass;
  const AttentionTrace& layer = pass.trace.layers[0];
  require_error([&] { attention_rows(layer, 20, 1); }, {"queries", "0 … 19", "20"});
  require_error([&] { attention_rows(layer, -1, 1); }, {"queries", "-1"});
  ForwardTrace packed;
  SamplingContext context = SamplingContext::seeded();
  context.trace_into(packed);
  at::NoGradGuard guard;
  pass.model->forward(pass.points, pass.normals, at::tensor({0, 9, 20}, at::kLong), context);
  require_error([&] { attention_rows(packed.layers[0], 0, 1); }, {"one item", "2"});
}

}  // namespace geosft::test::test_forward_trace
