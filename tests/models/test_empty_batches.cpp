// SPDX-License-Identifier: Apache-2.0
// Batches of no items, ptr = [0], through layers, heads and models: empty results, and gradients of zeros.
#include <catch2/catch.hpp>

#include "models/layers/primal_head_distance.h"
#include "models/ops/max_pool.h"
#include "models/point_classifier.h"
#include "models/point_segmenter.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_empty_model_batches {
namespace {

constexpr int64_t kWidth = 8;

at::Tensor no_items() {
  return at::zeros({1}, at::kLong);
}

std::vector<SamplingContext> contexts() {
  return {SamplingContext::training(generator(1)), SamplingContext::seeded(), SamplingContext::greedy()};
}

// The result has `sizes`, and every parameter that has a gradient has one of zeros.
void require_empty(const torch::nn::Module& module, const at::Tensor& out, at::IntArrayRef sizes) {
  REQUIRE(out.sizes() == sizes);
  REQUIRE(out.requires_grad());
  out.sum().backward();
  for (const auto& parameter : module.named_parameters()) {
    INFO(parameter.key());
    const at::Tensor& gradient = parameter.value().grad();
    if (gradient.defined()) REQUIRE(gradient.eq(0).all().item<bool>());
  }
}

LayerOptions small_layer() {
  LayerOptions layer;
  layer.attention.width = kWidth;
  layer.attention.heads = 2;
  layer.attention.sampler.num_samples = 4;
  return layer;
}

}  // namespace

TEST_CASE("every attention passes a batch of no items on", "[empty_model_batches]") {
  const at::Tensor none = at::empty({0}, at::kLong), points = at::empty({0, 3});
  RelativeEncoding relative = RelativeEncoding::graph(no_items(), none, at::empty({0, 1}));
  for (const std::string& name : attention_names()) {
    INFO(name);
    LayerOptions layer = small_layer();
    choose_attention(layer, name);
    if (layer.kind == AttentionKind::sampling) {
      layer.attention.relative = RelativeEncodingKind::graph;
      layer.attention.relative_channels = 1;
    }
    if (layer.primal.convolution == ConvolutionKind::grid) layer.primal.grid_height = layer.primal.grid_width = 2;
    if (layer.kind == AttentionKind::primal && layer.primal.mask == MaskKind::nearest) {
      relative = RelativeEncoding::points(points);
    }
    Encoder encoder(layer, 2);
    for (SamplingContext context : contexts()) {
      const at::Tensor x = at::empty({0, kWidth});
      require_empty(*encoder, encoder->forward(x, relative, no_items(), context), {0, kWidth});
    }
  }
}

TEST_CASE("composed attention and polynomials of a tolerance pass a batch of no items on", "[empty_model_batches]") {
  LayerOptions dot = small_layer(), sinusoids = small_layer(), polynomial = small_layer();
  dot.attention.score = ScoreKind::dot;
  sinusoids.attention.relative = RelativeEncodingKind::sequence;
  sinusoids.attention.relative_channels = 3;
  choose_attention(polynomial, "polynomial");
  polynomial.polynomial.tolerance = 0.1;
  SamplingContext context = SamplingContext::seeded();
  for (const LayerOptions& layer : {dot, sinusoids, polynomial}) {
    Encoder encoder(layer, 1);
    const bool positions = layer.attention.relative == RelativeEncodingKind::sequence;
    const RelativeEncoding relative =
        positions ? RelativeEncoding::sequence(at::empty({0, 3})) : RelativeEncoding::none();
    require_empty(*encoder, encoder->forward(at::empty({0, kWidth}), relative, no_items(), context), {0, kWidth});
  }
}

TEST_CASE("heads take no items", "[empty_model_batches]") {
  const at::Tensor x = at::empty({0, kWidth});
  REQUIRE(max_pool(x, no_items()).sizes() == at::IntArrayRef({0, kWidth}));
  SampleMaxHead sample(kWidth, 3, SamplerOptions{});
  for (SamplingContext context : contexts()) {
    require_empty(*sample, sample->forward(x, no_items(), context), {0, 3});
  }
  SoftmaxPoolHead pool(kWidth, 3);
  require_empty(*pool, pool->forward(x, no_items()), {0, 3});
  PairHead pairs(kWidth, 3);
  require_empty(*pairs, pairs->forward(x, no_items()), {0, 3});
  SumHead sum(kWidth, 3);
  require_empty(*sum, sum->forward(x, no_items()), {0, 3});
}

TEST_CASE("models of points take no clouds", "[empty_model_batches]") {
  const at::Tensor points = at::empty({0, 3});
  for (const PointTokens tokens : {PointTokens::radial, PointTokens::local, PointTokens::absolute_local}) {
    PointClassifierOptions options;
    options.classes = 4;
    options.tokens = tokens;
    options.normals = true;
    options.layer = small_layer();
    options.layers = 2;
    PointClassifier classifier(options);
    for (SamplingContext context : contexts()) {
      require_empty(*classifier, classifier->forward(points, points, no_items(), context), {0, 4});
    }
  }
  PointSegmenterOptions options;
  options.parts = 5;
  options.categories = 2;
  options.layer = small_layer();
  PointSegmenter segmenter(options);
  for (SamplingContext context : contexts()) {
    const at::Tensor category = at::empty({0}, at::kLong);
    const at::Tensor normals = options.normals ? points : at::Tensor();
    require_empty(*segmenter, segmenter->forward(points, normals, no_items(), category, context), {0, 5});
  }
}

TEST_CASE("models of graphs take no graphs", "[empty_model_batches]") {
  const FeaturedGraphs none = items_of(featured_graphs({4, 3}, 2), {});
  for (const GraphHead head : small_graphs::heads) {
    GraphModelOptions options = small_graphs::small_options();
    options.head = head;
    GraphModel model = small_graphs::model_of(options);
    for (SamplingContext context : contexts()) require_empty(*model, model->forward(none, context), {0, 3});
  }
  const ColumnStatistics statistics = column_statistics(none.node_values);
  require_equal(statistics.mean, at::zeros({2}), "mean");
  require_equal(statistics.deviation, at::ones({2}), "deviation");
}

TEST_CASE("the heads of no items have no distances", "[empty_model_batches]") {
  PrimalSelfAttention layer(kWidth, 2, PrimalOptions{});
  const PrimalWeights weights{layer->query->weight, layer->query->bias,   layer->key->weight,
                              layer->key->bias,     layer->value->weight, layer->value->bias,
                              layer->beta,          layer->convolution,   layer->pooling};
  const HeadDistances none =
      head_distances(at::empty({0, kWidth}), 2, weights, layer->options, no_items(), RelativeEncoding::none());
  REQUIRE(none.tokens.sizes() == at::IntArrayRef({0}));
  REQUIRE(none.items.sizes() == at::IntArrayRef({0}));
}

}  // namespace geosft::test::test_empty_model_batches
