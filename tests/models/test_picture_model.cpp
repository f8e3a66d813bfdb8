// SPDX-License-Identifier: Apache-2.0
// The parts of graph_model.h that models of pictures have: class token, learned positions, and drop path.
#include <catch2/catch.hpp>

#include "models/summary.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_picture_model {
namespace {

using small_graphs::model_of;
using small_graphs::seeded;

// Items of a grid of 2 x 3 nodes.
constexpr int64_t grid_height = 2, grid_width = 3, places = grid_height * grid_width;

GraphModelOptions picture_options(const std::string& attention) {
  GraphModelOptions options;
  options.node_values = 5;
  options.relative = false;
  options.positions = NodePositions::learned;
  options.places = places;
  options.outputs = 3;
  options.layer.attention.width = 16;
  options.layer.attention.heads = 4;
  options.layer.norm = NormPlacement::pre;
  choose_attention(options.layer, attention);
  options.layer.primal.grid_height = grid_height;
  options.layer.primal.grid_width = grid_width;
  options.layers = 2;
  options.head = GraphHead::class_token;
  return options;
}

FeaturedGraphs pictures(int64_t items, uint64_t seed, at::ScalarType dtype = at::kDouble) {
  FeaturedGraphs graphs;
  graphs.graphs.ptr = at::arange(items + 1, at::kLong) * places;
  graphs.graphs.graph.rowptr = at::zeros({items * places + 1}, at::kLong);
  graphs.graphs.graph.col = at::empty({0}, at::kLong);
  graphs.node_values = at::randn({items * places, 5}, generator(seed), at::TensorOptions(dtype));
  return graphs;
}

}  // namespace

TEST_CASE("DeiT-tiny has the parameters of its authors") {
  GraphModelOptions options = picture_options("softmax");
  options.node_values = 3 * 16 * 16;
  options.places = 14 * 14;
  options.outputs = 1000;
  options.layer.attention.width = 192;
  options.layer.attention.heads = 3;
  options.layers = 12;
  GraphModel model(options);
  CHECK(parameter_count(*model) == 5717416);
}

TEST_CASE("a class token attends with the patches of its picture, of every attention") {
  // Measured over 1,000 seeds, at most: 3.7e-15 where 1e-12 is allowed.
  for (const char* attention : {"softmax", "bn", "sh", "bn_sh", "conv2d"}) {
    INFO(attention);
    GraphModel model = model_of(picture_options(attention));
    const FeaturedGraphs both = pictures(2, 1), first = items_of(both, {0}), second = items_of(both, {1});
    const at::Tensor outputs = seeded(model, both);
    REQUIRE(outputs.sizes() == at::IntArrayRef({2, 3}));
    require_close(outputs, at::cat({seeded(model, first), seeded(model, second)}), 1e-12, "pictures apart");
    // Every patch is seen, and its place.
    for (int64_t patch = 0; patch < places; ++patch) {
      FeaturedGraphs changed = first;
      changed.node_values = first.node_values.clone();
      changed.node_values[patch] += 1.0;
      CHECK_FALSE(at::allclose(seeded(model, changed), seeded(model, first), 1e-9, 1e-9));
    }
    FeaturedGraphs turned = first;
    turned.node_values = first.node_values.flip({0});
    CHECK_FALSE(at::allclose(seeded(model, turned), seeded(model, first), 1e-6, 1e-6));
  }
}

TEST_CASE("a picture model computes what its parts do, one after the other") {
  // Measured: the same bits where 1e-12 is allowed.
  GraphModel model = model_of(picture_options("softmax"));
  const FeaturedGraphs one = pictures(1, 2);
  const at::Tensor patches = model->numbers->forward(one.node_values);
  const at::Tensor tokens = at::cat({model->class_token, patches}) + model->positions;
  SamplingContext context = SamplingContext::seeded();
  const at::Tensor encoded = model->encoder->forward(tokens, RelativeEncoding::none(), std::nullopt, context);
  require_close(seeded(model, one), model->token_head->forward(encoded[0]).unsqueeze(0), 1e-12, "prediction");
  require_equal(model->token_ptr(at::tensor({0, 6, 12}, at::kLong)), at::tensor({0, 7, 14}, at::kLong), "ptr");
}

TEST_CASE("a class token stands before sequences of any length") {
  // Measured over 1,000 seeds, at most: 3.1e-15 where 1e-12 is allowed.
  GraphModelOptions options = picture_options("softmax");
  options.positions = NodePositions::added;
  GraphModel model = model_of(options);
  FeaturedGraphs graphs = pictures(2, 3);
  graphs.graphs.ptr = at::tensor({0, 4, 12}, at::kLong);
  const at::Tensor outputs = seeded(model, graphs);
  require_close(outputs, at::cat({seeded(model, items_of(graphs, {0})), seeded(model, items_of(graphs, {1}))}), 1e-12,
                "sequences apart");
  FeaturedGraphs changed = graphs;
  changed.node_values = graphs.node_values.clone();
  changed.node_values[11] += 1.0;
  const at::Tensor moved = seeded(model, changed);
  require_equal(moved[0], outputs[0], "the other sequence");
  CHECK_FALSE(at::allclose(moved[1], outputs[1], 1e-9, 1e-9));
}

TEST_CASE("gradients reach the class token, positions and patches") {
  for (const char* attention : {"softmax", "bn_sh", "conv2d"}) {
    INFO(attention);
    GraphModel model = model_of(picture_options(attention));
    const FeaturedGraphs graphs = pictures(2, 4);
    require_gradcheck(
        [&](const std::vector<at::Tensor>& inputs) {
          FeaturedGraphs changed = graphs;
          changed.node_values = inputs[0];
          SamplingContext context = SamplingContext::seeded();
          return model->forward(changed, context);
        },
        {graphs.node_values.clone()}, 1e-6, 1e-5);
    model->zero_grad();
    SamplingContext context = SamplingContext::seeded();
    model->forward(graphs, context).square().sum().backward();
    for (const auto& parameter : model->named_parameters()) {
      INFO(parameter.key());
      REQUIRE(parameter.value().grad().defined());
      CHECK(parameter.value().grad().isfinite().all().item<bool>());
    }
    // Against central differences, number by number.
    for (const at::Tensor& parameter : {model->class_token, model->positions}) {
      for (const int64_t place : {int64_t{0}, parameter.numel() - 1}) {
        const auto loss_at = [&](double change) {
          at::NoGradGuard guard;
          parameter.view(-1)[place] += change;
          SamplingContext again = SamplingContext::seeded();
          const double loss = model->forward(graphs, again).square().sum().item<double>();
          parameter.view(-1)[place] -= change;
          return loss;
        };
        const double slope = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5;
        CHECK(parameter.grad().view(-1)[place].item<double>() == Approx(slope).epsilon(1e-5).margin(1e-8));
      }
    }
  }
}

TEST_CASE("drop path leaves out branches of whole items in training, and none in evaluation") {
  // Measured: the same bits where 1e-12 is allowed.
  GraphModelOptions options = picture_options("softmax");
  options.layer.drop_path = 0.5;
  GraphModel model = model_of(options);
  CHECK(model->encoder->layers[0]->as<TransformerLayer>()->options.drop_path == 0.0);
  CHECK(model->encoder->layers[1]->as<TransformerLayer>()->options.drop_path == 0.5);
  options.layer.drop_path = 0.0;
  GraphModel without = model_of(options);
  const FeaturedGraphs graphs = pictures(200, 6);
  require_equal(seeded(model, graphs), seeded(without, graphs), "evaluation");
  // The second layer has two branches: a quarter of the items lacks both, a quarter has both, doubled.
  TransformerLayer layer = TransformerLayer(model->encoder->layers[1]->as<TransformerLayer>()->options);
  layer->to(at::kDouble);
  const at::Tensor x = at::randn({200 * places, 16}, generator(7), at::kDouble), ptr = graphs.graphs.ptr;
  SamplingContext training = SamplingContext::training(generator(8));
  const at::Tensor change = (layer->forward(x, RelativeEncoding::none(), ptr, training) - x).view({200, places, 16});
  const at::Tensor still = change.abs().amax({1, 2}) == 0;
  const int64_t unchanged = still.sum().item<int64_t>();
  CHECK((unchanged > 25 && unchanged < 80));
  // An item is changed in every row or in none.
  require_equal(change.abs().amax(2).gt(0).all(1), still.logical_not(), "whole items");
  // A part of a batch is treated as in the whole.
  SamplingContext again = SamplingContext::training(generator(8), {std::vector<int64_t>(200, places), 150});
  const at::Tensor part =
      layer->forward(x.slice(0, 150 * places), RelativeEncoding::none(), at::arange(51, at::kLong) * places, again);
  require_close(part - x.slice(0, 150 * places), change.slice(0, 150).flatten(0, 1), 1e-12, "a part of the batch");
  LayerOptions wrong = options.layer;
  wrong.drop_path = 1.0;
  require_error([&] { TransformerLayer{wrong}; }, {"drop_path", "1"});
  wrong.drop_path = 0.5;
  wrong.residual = false;
  require_error([&] { TransformerLayer{wrong}; }, {"drop_path", "residual"});
}

TEST_CASE("picture models refuse items and options that do not fit") {
  GraphModel model = model_of(picture_options("softmax"));
  FeaturedGraphs graphs = pictures(2, 9);
  graphs.graphs.ptr = at::tensor({0, 12}, at::kLong);
  require_error([&] { seeded(model, graphs); }, {"items of 6 nodes", "learned positions"});
  GraphModelOptions wrong = picture_options("softmax");
  wrong.places = 0;
  require_error([&] { GraphModel{wrong}; }, {"places", "0"});
  wrong = picture_options("softmax");
  wrong.relative = true;
  require_error([&] { GraphModel{wrong}; }, {"class_token"});
  GraphModel convolved = model_of(picture_options("conv2d"));
  convolved->encoder->layers[0]->as<TransformerLayer>()->primal->options.grid_width = 4;
  require_error([&] { seeded(convolved, pictures(2, 9)); }, {"2 x 4 + 1 tokens", "item 0 has 7"});
}

}  // namespace geosft::test::test_picture_model
