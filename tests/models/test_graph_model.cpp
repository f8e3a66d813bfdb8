// SPDX-License-Identifier: Apache-2.0
#include "models/graph_model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "models/layers/statistics_reducer.h"
#include "models/ops/non_finite_error.h"
#include "models/training/autocast.h"
#include "tests/models/small_graph_model.h"

namespace geosft::test::test_graph_model {

using namespace small_graphs;

TEST_CASE("a graph model has outputs for every graph, or for every node") {
  const FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  for (const GraphHead head : heads) {
    GraphModelOptions options = small_options();
    options.head = head;
    GraphModel model = model_of(options);
    CHECK(seeded(model, graphs).sizes() == at::IntArrayRef({head == GraphHead::nodes ? 20 : 3, 3}));
    CHECK(seeded(model, graphs).isfinite().all().item<bool>());
  }
}

TEST_CASE("greedy evaluation does not depend on the numbers of the nodes") {
  // Measured over 1,000 seeds, at most: 1.6e-15 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({12, 5, 20}, 4);
  const RenumberedGraphs moved = renumbered(graphs, generator(8));
  for (const GraphHead head : heads) {
    for (const bool relative : {true, false}) {
      GraphModelOptions options = small_options();
      options.head = head;
      options.relative = relative;
      GraphModel model = model_of(options);
      const at::Tensor expected = greedy(model, graphs), found = greedy(model, moved.graphs);
      const bool nodes = head == GraphHead::nodes;
      require_close(found, nodes ? expected.index_select(0, moved.order) : expected, 1e-10, "renumbered", 1.0);
    }
  }
}

TEST_CASE("seeded evaluation varies with the numbers of the nodes, and no more than with its seed") {
  const FeaturedGraphs graphs = featured_graphs({12, 5, 20, 15, 9, 30}, 4);
  GraphModel model = model_of(small_options());
  const at::Tensor expected = seeded(model, graphs);
  double moved = 0.0, between_samples = 0.0;
  for (uint64_t i = 1; i <= 5; ++i) {
    moved += (seeded(model, renumbered(graphs, generator(i)).graphs) - expected).abs().mean().item<double>();
    SamplingContext context = SamplingContext::seeded(i);
    between_samples += (model->forward(graphs, context).detach() - expected).abs().mean().item<double>();
  }
  CHECK(moved > 0.0);
  CHECK(moved < 2 * between_samples);
}

TEST_CASE("positions tell nodes in their order apart, each item for itself") {
  // Measured over 1,000 seeds, at most: 8.1e-16 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({7, 0, 12}, 4);
  const RenumberedGraphs moved = renumbered(graphs, generator(8));
  for (const NodePositions positions : {NodePositions::added, NodePositions::relative}) {
    GraphModelOptions options = small_options();
    options.positions = positions;
    options.relative = false;
    options.position_channels = 6;
    if (positions == NodePositions::added) choose_attention(options.layer, "softmax");
    GraphModel model = model_of(options);
    const at::Tensor together = greedy(model, graphs);
    CHECK((greedy(model, moved.graphs) - together).abs().max().item<double>() > 1e-6);
    require_close(greedy(model, items_of(graphs, {2})), together.narrow(0, 2, 1), 1e-10, "alone", 1.0);
    const auto channels = model->encoder->layers[0]->as<TransformerLayer>()->options.attention.relative_channels;
    CHECK(channels == (positions == NodePositions::relative ? 6 : 0));
  }
}

TEST_CASE("a model attends by the primal-dual family over points of a graph") {
  // Measured over 1,000 seeds, at most: 8.9e-16 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  for (const char* name : {"softmax", "linear_bn_sh", "sparse"}) {
    GraphModelOptions options = small_options();
    choose_attention(options.layer, name);
    if (options.layer.primal.mask != MaskKind::none) options.layer.primal.mask = MaskKind::neighbours;
    GraphModel model = model_of(options);
    const RenumberedGraphs moved = renumbered(graphs, generator(8));
    const bool pooled = !options.layer.primal.pool.empty();  // which goes by the order of the nodes
    if (!pooled) require_close(greedy(model, moved.graphs), greedy(model, graphs), 1e-10, name, 1.0);
    CHECK(greedy(model, graphs).isfinite().all().item<bool>());
  }
}

TEST_CASE("two documents are attended to one by one and compared") {
  // Measured over 1,000 seeds, at most: 3.4e-16 where 1e-10 is allowed.
  const FeaturedGraphs graphs = document_graphs();
  const GraphModelOptions options = document_options();
  GraphModelOptions wrong = options;
  wrong.head = GraphHead::sum;
  require_error([&] { GraphModel model(wrong); }, {"head", "pairs"});
  GraphModel model = model_of(options);
  const at::Tensor together = greedy(model, graphs);
  CHECK(together.sizes() == at::IntArrayRef({3, 3}));
  require_close(greedy(model, items_of(graphs, {1})), together.narrow(0, 1, 1), 1e-10, "alone", 1.0);
  require_equal(greedy(model, with_document_offsets(graphs)), together, "offsets that are known");
  // The halves of the head's difference see what the encoder makes of each document alone.
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor ptr = at::tensor({0, 3, 7, 8, 11, 18, 20}, at::kLong);
  GraphModelOptions single = options;
  single.documents = false;
  single.head = GraphHead::nodes;
  single.node_vocabulary = {3};
  FeaturedGraphs apart = graphs;
  apart.graphs.ptr = ptr;
  // Edges lead from one document to the other.
  apart.graphs.graph.rowptr = at::zeros({21}, at::kLong);
  apart.graphs.graph.col = at::empty({0}, at::kLong);
  apart.edge_categories = graphs.edge_categories.slice(0, 0, 0);
  apart.edge_values = graphs.edge_values.slice(0, 0, 0);
  apart.node_categories = graphs.node_categories.slice(1, 0, 1);
  GraphModel encoder = model_of(single);
  const auto weights = model->named_parameters();
  for (auto& named : encoder->named_parameters()) {
    const at::Tensor* const same = weights.find(named.key());
    if (same != nullptr) named.value().set_data(*same);
  }
  encoder->token_head->linear->weight.set_data(at::eye(16, at::kDouble));
  encoder->token_head->linear->bias.set_data(at::zeros({16}, at::kDouble));
  require_close(model->pair_head->forward(encoder->forward(apart, context), ptr).detach(), together, 1e-10, "by hand");
}

TEST_CASE("the graphs of a batch do not see each other") {
  // Measured over 1,000 seeds, at most: 3.3e-15 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({6, 1, 9, 2}, 5);
  GraphModel model = model_of(small_options());
  const at::Tensor together = seeded(model, graphs);
  for (int64_t item = 0; item < 4; ++item) {
    require_close(seeded(model, items_of(graphs, {item})), together.narrow(0, item, 1), 1e-10, "alone", 1.0);
  }
}

TEST_CASE("graphs of one, two and three nodes, without edges, and empty ones have finite outputs and gradients") {
  for (const bool edges : {true, false}) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {1, 2, 3}, {2, 2}, {3, 1, 1, 2}, {0, 2}, {1, 0, 3}}) {
      const FeaturedGraphs graphs = featured_graphs(sizes, 6, edges);
      for (const GraphHead head : heads) {
        GraphModelOptions options = small_options();
        options.head = head;
        require_finite_step(options, graphs);
      }
    }
  }
}

TEST_CASE("edges and what they carry change the output exactly when attention sees them") {
  const FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  FeaturedGraphs valued = graphs, labelled = graphs, without = featured_graphs({9, 14}, 7, /*edges=*/false);
  valued.edge_values = graphs.edge_values + 1;
  labelled.edge_categories = (graphs.edge_categories + 1) % 4;
  without.node_categories = graphs.node_categories;
  without.node_values = graphs.node_values;
  without.node_encoding = graphs.node_encoding;
  for (const bool relative : {true, false}) {
    GraphModelOptions options = small_options();
    options.relative = relative;
    GraphModel model = model_of(options);
    const at::Tensor expected = greedy(model, graphs);
    for (const FeaturedGraphs& changed : {valued, labelled, without}) {
      CHECK(at::equal(greedy(model, changed), expected) == !relative);
    }
  }
}

TEST_CASE("the attentions that are compared all run, and have different outputs") {
  const FeaturedGraphs graphs = featured_graphs({9, 1, 14}, 7);
  std::vector<at::Tensor> outputs;
  for (const ScoreKind score : {ScoreKind::maxout, ScoreKind::dot}) {
    for (const ProbabilityKind probability : {ProbabilityKind::leaky_relu, ProbabilityKind::softmax}) {
      GraphModelOptions options = small_options();
      options.layer.attention.score = score;
      options.layer.attention.probability = probability;
      GraphModel model = model_of(options);
      const at::Tensor output = greedy(model, graphs);
      CHECK(output.isfinite().all().item<bool>());
      for (const at::Tensor& other : outputs) CHECK((output - other).abs().max().item<double>() > 1e-6);
      outputs.push_back(output);
    }
  }
}

TEST_CASE("a graph without features is told by its edges and its encoding") {
  FeaturedGraphs bare = featured_graphs({9, 14}, 7);
  bare.node_categories = bare.node_values = bare.edge_categories = bare.edge_values = at::Tensor();
  GraphModelOptions options = small_options();
  options.node_vocabulary = options.edge_vocabulary = {};
  options.node_values = options.edge_values = 0;
  GraphModel encoded = model_of(options);
  CHECK_FALSE(encoded->named_parameters().contains("embedding.weight"));
  // The same nodes with other edges, and with another encoding.
  FeaturedGraphs apart = bare, moved = bare;
  apart.graphs = featured_graphs({9, 14}, 7, /*edges=*/false).graphs;
  moved.node_encoding = bare.node_encoding.flip(0);
  const auto require_told = [&](GraphModel& model, const FeaturedGraphs& changed) {
    const at::Tensor output = greedy(model, bare);
    CHECK(output.isfinite().all().item<bool>());
    CHECK((greedy(model, changed) - output).abs().max().item<double>() > 1e-6);
  };
  require_told(encoded, apart);
  require_told(encoded, moved);
  bare.node_encoding = apart.node_encoding = at::Tensor();
  options.encoding = 0;
  GraphModel plain = model_of(options);
  require_told(plain, apart);
}

TEST_CASE("a graph without categories is taken inside autocast") {
  FeaturedGraphs bare = featured_graphs({9, 14}, 7);
  bare.node_categories = at::Tensor();
  for (const NodePositions positions : {NodePositions::none, NodePositions::added, NodePositions::relative}) {
    GraphModelOptions options = small_options();
    options.node_vocabulary = {};
    options.positions = positions;
    GraphModel model = model_of(options, at::kFloat);
    const Autocast autocast(at::kCPU, at::kBFloat16);
    const at::Tensor outputs = greedy(model, bare);
    CHECK(outputs.scalar_type() == at::kBFloat16);
    CHECK(outputs.isfinite().all().item<bool>());
  }
}

TEST_CASE("a model of 16 bits sees distances and angles of coordinates of 32") {
  FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  graphs.coordinates = (graphs.coordinates.to(at::kFloat) * 1024).round() / 1024;  // float32 holds them when moved
  FeaturedGraphs moved = graphs;
  moved.coordinates = graphs.coordinates + 100;
  GraphModelOptions options = molecule_options();
  options.angles = true;
  GraphModel model = model_of(options, at::kBFloat16);
  const at::Tensor found = greedy(model, graphs);
  CHECK(found.scalar_type() == at::kBFloat16);
  CHECK(found.isfinite().all().item<bool>());
  require_equal(greedy(model, moved), found, "moved by 100");
}

TEST_CASE("training draws the signs of a signed encoding, evaluation does not") {
  const FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  GraphModelOptions options = small_options();
  options.relative = false;
  options.signed_encoding = true;
  choose_attention(options.layer, "softmax");  // nothing but the signs is random
  GraphModel model = model_of(options);
  // What evaluation says of each of the 16 ways to turn the four columns.
  std::vector<at::Tensor> ways;
  for (int way = 0; way < 16; ++way) {
    FeaturedGraphs turned = graphs;
    turned.node_encoding = graphs.node_encoding.clone();
    for (int64_t column = 0; column < 4; ++column) {
      if ((way >> column & 1) != 0) turned.node_encoding.select(1, column).neg_();
    }
    ways.push_back(greedy(model, turned));
    CHECK(at::equal(greedy(model, turned), ways.back()));
  }
  const auto trained = [&](uint64_t seed) {
    SamplingContext context = SamplingContext::training(generator(seed));
    return model->forward(graphs, context).detach();
  };
  std::set<std::pair<int, int>> signs_seen;  // the ways of both graphs
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const at::Tensor found = trained(seed);
    CHECK(at::equal(found, trained(seed)));
    const auto way_of = [&](int64_t item) {
      int way = 0;
      while (way < 16 && !at::allclose(found[item], ways[static_cast<size_t>(way)][item], 1e-9, 1e-12)) ++way;
      return way;
    };
    REQUIRE((way_of(0) < 16 && way_of(1) < 16));
    signs_seen.emplace(way_of(0), way_of(1));
  }
  CHECK(signs_seen.size() > 4);
}

TEST_CASE("numbers are standardised by the training set, targets too") {
  // Measured over 1,000 seeds, at most: 2.4e-8 where 1e-6 is allowed, and 7.9e-6 where 0.0001 is allowed, and the same
  // bits where 1e-5 is allowed.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  graphs.node_values.select(1, 1).fill_(4.0);
  GraphModel model = model_of(small_options(), at::kFloat);
  model->standardize(graphs, at::tensor({1.0f, 10.0f, nan, 3.0f, 20.0f, nan}).view({2, 3}));
  require_close(model->target_mean, at::tensor({2.0f, 15.0f, 0.0f}), 1e-6, "target_mean");
  require_close(model->target_deviation, at::tensor({1.0f, 5.0f, 1.0f}), 1e-6, "target_deviation");
  require_close(model->node_mean.narrow(0, 0, 2), graphs.node_values.mean(0), 1e-6, "node_mean");
  CHECK(model->node_deviation[1].item<float>() == 1.0f);
  require_close(model->edge_deviation, graphs.edge_values.std(0, /*unbiased=*/false), 1e-5, "edge_deviation");
  const at::Tensor output = greedy(model, graphs);
  FeaturedGraphs scaled = graphs;
  scaled.node_values = graphs.node_values * 10 - 3;
  scaled.node_encoding = graphs.node_encoding * 0.1 + 7;
  scaled.edge_values = graphs.edge_values * 4 + 1;
  model->standardize(scaled, {});
  require_close(greedy(model, scaled), output, 1e-4, "units do not count");
  // Units such as tesla for the fields of a brain. A constant stays one.
  for (const double unit : {1e-15, 1e20}) {
    FeaturedGraphs other = graphs;
    other.node_values = graphs.node_values * unit;
    other.edge_values = graphs.edge_values * unit;
    model->standardize(other, at::tensor({1.0f, 10.0f, nan, 3.0f, 20.0f, nan}).view({2, 3}) * unit);
    require_close(greedy(model, other), output, 1e-4, "units do not count");
    require_close(model->target_deviation.slice(0, 0, 2) / unit, at::tensor({1.0f, 5.0f}), 1e-6, "target_deviation");
    CHECK(model->target_deviation[2].item<float>() == 1.0f);
    CHECK(model->node_deviation[1].item<float>() == 1.0f);
  }
  // An offset of which float32 keeps little: what is left is not made larger than it is.
  const ColumnStatistics times = column_statistics(at::tensor({1.7e9, 1.7e9 + 300, 1.7e9 + 600}).view({3, 1}));
  CHECK(times.deviation.item<float>() == Approx(245).margin(1));
  GraphModelOptions options = small_options();
  options.signed_encoding = true;
  GraphModel with_signs = model_of(options, at::kFloat);
  with_signs->standardize(scaled, {});
  require_equal(with_signs->node_mean.narrow(0, 2, 4), at::zeros({4}), "signed columns keep their zero");
}

TEST_CASE("gradients of a graph model are those of finite differences") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModelOptions options = small_options();
  options.layers = 1;
  require_model_gradcheck(options, graphs, {&FeaturedGraphs::node_values, &FeaturedGraphs::edge_values});
}

TEST_CASE("features that the model was not built for are refused by name") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModel model = model_of(small_options());
  const auto refused = [&](at::Tensor FeaturedGraphs::*member, const at::Tensor& value, const char* name) {
    FeaturedGraphs wrong = graphs;
    wrong.*member = value;
    require_error([&] { greedy(model, wrong); }, {name, "columns"});
  };
  refused(&FeaturedGraphs::node_categories, {}, "node_categories");
  refused(&FeaturedGraphs::node_values, graphs.node_values.narrow(1, 0, 1), "node_values");
  refused(&FeaturedGraphs::node_encoding, {}, "node_encoding");
  refused(&FeaturedGraphs::edge_categories, {}, "edge_categories");
  refused(&FeaturedGraphs::edge_values, {}, "edge_values");
  GraphModel molecules = model_of(molecule_options());
  FeaturedGraphs nowhere = graphs;
  nowhere.coordinates = at::Tensor();
  require_error([&] { greedy(molecules, nowhere); }, {"coordinates", "3 columns"});
  GraphModelOptions empty = small_options();
  empty.node_vocabulary.front() = 0;
  require_error([&] { GraphModel{empty}; }, {"node_vocabulary", "at least 1 category"});
  GraphModelOptions none = small_options();
  none.outputs = 0;
  require_error([&] { GraphModel{none}; }, {"outputs"});
}

TEST_CASE("features that do not fit the graphs are refused by name") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModel model = model_of(small_options());
  const std::vector<int64_t>&nodes = model->options.node_vocabulary, &edges = model->options.edge_vocabulary;
  REQUIRE(nodes.size() > 1);
  const auto refused = [&](at::Tensor FeaturedGraphs::*member, const at::Tensor& value,
                           const std::vector<std::string>& words) {
    FeaturedGraphs wrong = graphs;
    wrong.*member = value;
    require_error([&] { greedy(model, wrong); }, words);
  };
  // A category beyond those of its column, which the next column has.
  for (const auto& [column, category] : {std::pair<int64_t, int64_t>(0, nodes[0]), {1, -1}, {1, nodes[1]}}) {
    at::Tensor categories = graphs.node_categories.clone();
    categories[2][column] = category;
    refused(&FeaturedGraphs::node_categories, categories,
            {"node_categories", "column " + std::to_string(column), "got " + std::to_string(category)});
  }
  refused(&FeaturedGraphs::node_categories, graphs.node_categories + 0.5,
          {"node_categories must be integers", "Float"});
  at::Tensor categories = graphs.edge_categories.clone();
  categories[0][0] = edges[0];
  refused(&FeaturedGraphs::edge_categories, categories, {"edge_categories", "column 0"});
  refused(&FeaturedGraphs::node_values, graphs.node_values.slice(0, 1), {"node_values", "8 nodes", "got 7"});
  refused(&FeaturedGraphs::node_encoding, graphs.node_encoding.slice(0, 1), {"node_encoding", "8 nodes"});
  refused(&FeaturedGraphs::edge_values, graphs.edge_values.slice(0, 1), {"edge_values", "edges"});
  FeaturedGraphs across = graphs;
  across.graphs.graph.col = graphs.graphs.graph.col.clone();
  across.graphs.graph.col[0] = 7;
  require_error([&] { greedy(model, across); }, {"item"});
}

TEST_CASE("features that are not finite are refused by name and row, and those that the model does not see are not") {
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModelOptions softmax = molecule_options();
  choose_attention(softmax.layer, "softmax");
  softmax.relative = false;
  GraphModel model = model_of(molecule_options()), unseeing = model_of(softmax);
  const std::pair<at::Tensor FeaturedGraphs::*, const char*> members[] = {
      {&FeaturedGraphs::node_values, "node_values"},
      {&FeaturedGraphs::node_encoding, "node_encoding"},
      {&FeaturedGraphs::edge_values, "edge_values"},
      {&FeaturedGraphs::coordinates, "coordinates"}};
  for (const auto& [member, name] : members) {
    for (const double value : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
      FeaturedGraphs broken = graphs;
      broken.*member = (graphs.*member).clone();
      (broken.*member)[2][1] = value;
      INFO(name);
      CHECK_THROWS_AS(greedy(model, broken), NonFiniteError);
      require_error([&] { greedy(model, broken); }, {std::string(name) + " must be finite", "in 1 of ", "row 2"});
      if (std::string(name).starts_with("node")) {
        CHECK_THROWS_AS(greedy(unseeing, broken), NonFiniteError);
      } else {
        CHECK(greedy(unseeing, broken).isfinite().all().item<bool>());
      }
    }
  }
  FeaturedGraphs large = graphs;  // finite numbers whose sum overflows
  large.edge_values = at::full_like(graphs.edge_values, 3e38);
  model->standardize(large, {});
  CHECK_NOTHROW(greedy(model, large));
}

TEST_CASE("a copy of a graph model has weights of its own, and the same dtype and mode") {
  GraphModel model = model_of(small_options());
  const FeaturedGraphs graphs = featured_graphs({5, 3}, 2);
  GraphModel copy(std::dynamic_pointer_cast<GraphModelImpl>(model->clone()));
  REQUIRE_FALSE(copy.is_empty());
  const at::Tensor before = greedy(model, graphs);
  require_equal(greedy(copy, graphs), before, "copied");
  CHECK(copy->is_training() == model->is_training());
  {
    at::NoGradGuard guard;
    for (at::Tensor& parameter : copy->parameters()) parameter.zero_();
  }
  require_equal(greedy(model, graphs), before, "the first one");
}

TEST_CASE("a deep head predicts from pooled nodes and standardised features of the graphs", "[graph_model]") {
  // Measured over 1,000 seeds, at most: 6.7e-16 where 1e-10 is allowed, and 5.9e-8 where 1e-6 is allowed.
  const FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  const at::Tensor features = at::randn({3, 5}, generator(12), at::kDouble) * 40 + 7;
  for (const GraphHead head : heads) {
    GraphModelOptions options = small_options();
    options.head = head;
    options.head_layers = 3;
    const bool nodes = head == GraphHead::nodes;
    options.graph_features = nodes ? 0 : 5;
    GraphModel model = model_of(options);
    const at::Tensor given = nodes ? at::Tensor() : features;
    model->standardize(graphs, {}, given);
    SamplingContext context = SamplingContext::greedy();
    const at::Tensor together = model->forward(graphs, context, given).detach();
    REQUIRE(together.sizes() == at::IntArrayRef({nodes ? 20 : 3, 3}));
    const at::Tensor alone =
        model->forward(items_of(graphs, {1}), context, nodes ? given : features.slice(0, 1, 2)).detach();
    require_close(alone, nodes ? together.slice(0, 7, 11) : together.slice(0, 1, 2), 1e-10, "alone", 1.0);
    if (nodes) continue;
    require_close(model->graph_mean, features.mean(0), 1e-6, "mean", 1.0);
    require_error([&] { greedy(model, graphs); }, {"graph_features", "5 columns"});
  }
  GraphModelOptions wrong = small_options();
  wrong.head = GraphHead::nodes;
  wrong.graph_features = 2;
  require_error([&] { GraphModel{wrong}; }, {"graph_features", "nodes"});
  GraphModelOptions pairs = document_options();
  pairs.head_layers = 2;
  require_error([&] { GraphModel{pairs}; }, {"head_layers", "pairs", "2"});
}

TEST_CASE("features of graphs that are not defined or far from the mean are bounded", "[graph_model]") {
  // Measured: the same bits where 1e-6 is allowed.
  const FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  GraphModelOptions options = small_options();
  options.graph_features = 2;
  GraphModel model = model_of(options);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor features = at::tensor({1.0, 5.0, 3.0, nan, 5.0, 7.0}, at::kDouble).view({3, 2});
  model->standardize(graphs, {}, features);
  const auto outputs = [&](const at::Tensor& given) {
    SamplingContext context = SamplingContext::greedy();
    return model->forward(graphs, context, given).detach();
  };
  at::Tensor filled = features.clone();
  filled[1][1] = 6.0;  // the mean of the known ones
  require_close(outputs(features), outputs(filled), 1e-6, "unknown", 1.0);
  at::Tensor far = filled.clone(), farther = filled.clone();
  far[0][0] = 1e3;
  farther[0][0] = 1e12;
  require_equal(outputs(far), outputs(farther), "clamped");
}

TEST_CASE("counts among the features of graphs are not standardised", "[graph_model]") {
  // Measured: 3.6e-8 where 1e-6 is allowed.
  const FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  GraphModelOptions options = small_options();
  options.graph_features = 3;
  options.graph_counts = 2;
  GraphModel model = model_of(options);
  model->standardize(graphs, {}, at::tensor({1.0, 0.0, 2.0, 3.0, 0.0, 0.0, 5.0, 1.0, 0.0}, at::kDouble).view({3, 3}));
  require_close(model->graph_mean, at::tensor({3.0, 0.0, 0.0}, at::kDouble), 1e-6, "mean", 1.0);
  require_close(model->graph_deviation, at::tensor({std::sqrt(8.0 / 3), 1.0, 1.0}, at::kDouble), 1e-6, "deviation",
                1.0);
  options.graph_counts = 4;
  require_error([&] { GraphModel{options}; }, {"graph_counts", "3", "4"});
}

TEST_CASE("features of graphs are refused by a model without them", "[graph_model]") {
  const FeaturedGraphs graphs = featured_graphs({7, 4}, 3);
  GraphModel model = model_of(small_options());
  REQUIRE(model->named_buffers().find("graph_mean") == nullptr);
  SamplingContext context = SamplingContext::greedy();
  require_error([&] { model->forward(graphs, context, at::ones({2, 3})); }, {"graph_features", "0 columns", "3"});
}

TEST_CASE("the head sees the features of graphs only if the model has columns for them", "[graph_model]") {
  FeaturedGraphs graphs = featured_graphs({7, 4}, 3);
  graphs.graph_features = at::ones({2, 3});
  GraphModelOptions options = small_options();
  REQUIRE_FALSE(model_of(options)->head_features(graphs).defined());
  options.graph_features = 3;
  REQUIRE(model_of(options)->head_features(graphs).is_same(graphs.graph_features));
  options.graph_features = 2;
  graphs.graph_features = at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({2, 3});
  require_equal(model_of(options)->head_features(graphs), at::tensor({1.0F, 2.0F, 4.0F, 5.0F}).view({2, 2}), "first");
}

namespace {

// Models with a convolution: beside attention and instead of it, with every normalisation and the other new parts.
std::vector<GraphModelOptions> convolved_options() {
  std::vector<GraphModelOptions> all;
  for (const LocalKind kind : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    for (const char* attention : {"none", "sampling"}) {
      for (const NormKind norm : {NormKind::layer, NormKind::batch, NormKind::none}) {
        GraphModelOptions options = small_options();
        choose_attention(options.layer, attention);
        options.relative = options.layer.kind == AttentionKind::sampling;
        options.layer.local.kind = kind;
        options.layer.normalization = norm;
        options.layer.residual = norm != NormKind::batch;
        options.layer.expansion = norm == NormKind::layer ? 2 : 0;
        options.head = GraphHead::mean;
        options.head_layers = 2;
        if (norm == NormKind::batch) {
          options.encoding_channels = 5;
          options.encoding_layers = 2;
          options.max_degree = 3;
          options.encoder = {JumpingKnowledge::concatenate, true};
        }
        all.push_back(options);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("models with convolutions take every graph for itself, whatever its nodes are numbered", "[graph_model]") {
  // Measured over 1,000 seeds, at most: 4.1e-14 where 1e-10 is allowed.
  const FeaturedGraphs graphs = featured_graphs({12, 5, 1, 20}, 4);
  const RenumberedGraphs moved = renumbered(graphs, generator(8));
  for (const GraphModelOptions& options : convolved_options()) {
    GraphModel model = model_of(options);
    const at::Tensor together = greedy(model, graphs);
    REQUIRE(together.sizes() == at::IntArrayRef({4, 3}));
    require_close(greedy(model, moved.graphs), together, 1e-10, "renumbered", 1.0);
    for (int64_t item = 0; item < 4; ++item) {
      require_close(greedy(model, items_of(graphs, {item})), together.narrow(0, item, 1), 1e-10, "alone", 1.0);
    }
  }
}

TEST_CASE("every parameter of a model with convolutions is trained", "[graph_model]") {
  const FeaturedGraphs graphs = featured_graphs({9, 14, 8}, 7);
  for (const GraphModelOptions& options : convolved_options()) {
    GraphModel model = model_of(options);
    model->train();
    SamplingContext context = SamplingContext::training(generator(1));
    (model->forward(graphs, context) - 1).square().sum().backward();
    for (const auto& parameter : model->named_parameters()) {
      INFO(parameter.key() << " of local " << static_cast<int>(options.layer.local.kind));
      REQUIRE(parameter.value().grad().defined());
      REQUIRE(parameter.value().grad().isfinite().all().item<bool>());
    }
    REQUIRE(batch_norm_count(*model) == (options.encoding_channels > 0 ? batch_norm_count(*model->encoder) + 1 : 0));
  }
}

TEST_CASE("a model expects as many sums of statistics as its forward pass has", "[graph_model]") {
  const FeaturedGraphs graphs = featured_graphs({9, 14, 8}, 7);
  for (GraphModelOptions options : convolved_options()) {
    for (const int64_t layers : {1, 2, 4}) {
      INFO(layers << " layers of local " << static_cast<int>(options.layer.local.kind));
      options.layers = layers;
      GraphModel model = model_of(options);
      model->train();
      int64_t calls = 0, fails_at = 0;  // two calls a sum: whether a process has abandoned the pass, and the sum
      const auto reducer = std::make_shared<StatisticsReducer>(
          [&](const at::Tensor& values) {
            if (++calls == fails_at) throw NonFiniteError("here");
            return values;
          },
          /*counted=*/true);
      SamplingContext context = SamplingContext::training(generator(1));
      context.sum_statistics_with(reducer);
      model->forward(graphs, context);
      const int64_t all = std::exchange(calls, 0);
      reducer->abandon();
      CHECK(calls == 0);  // nobody waits
      if (all == 0) continue;
      fails_at = all - 1;
      CHECK_THROWS_AS(model->forward(graphs, context), NonFiniteError);
      reducer->abandon();
      CHECK(calls == all);  // the last sum is waited for
    }
  }
}

TEST_CASE("models with convolutions take graphs without edges and without nodes", "[graph_model]") {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1}, {0, 2}, {3, 1, 0, 2}}) {
    const FeaturedGraphs graphs = featured_graphs(sizes, 6, /*edges=*/false);
    for (const GraphModelOptions& options : convolved_options()) require_finite_step(options, graphs);
  }
}

TEST_CASE("edges and their features change what a convolution outputs", "[graph_model]") {
  const FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  FeaturedGraphs valued = graphs, labelled = graphs;
  valued.edge_values = graphs.edge_values + 1;
  labelled.edge_categories = (graphs.edge_categories + 1) % 4;
  for (const LocalKind kind : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    GraphModelOptions options = small_options();
    choose_attention(options.layer, "none");
    options.relative = false;
    options.layer.local.kind = kind;
    GraphModel model = model_of(options);
    const at::Tensor expected = greedy(model, graphs);
    for (const FeaturedGraphs& changed : {valued, labelled}) REQUIRE_FALSE(at::equal(greedy(model, changed), expected));
    FeaturedGraphs bare = graphs;
    bare.edge_values = at::Tensor();
    require_error([&] { greedy(model, bare); }, {"edge_values", "2 columns"});
    options.edge_vocabulary = {};
    options.edge_values = 0;
    GraphModel plain = model_of(options);
    REQUIRE(plain->options.layer.local.edge_channels == (kind == LocalKind::gated_gcn ? 1 : 0));
    bare.edge_categories = at::Tensor();
    REQUIRE(greedy(plain, bare).isfinite().all().item<bool>());
  }
}

TEST_CASE("a network of its own makes the last channels of the tokens from the encoding", "[graph_model]") {
  const FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  GraphModelOptions options = small_options();
  options.encoding_channels = 6;
  options.signed_encoding = true;
  GraphModel model = model_of(options);
  REQUIRE(model->numbers->weight.sizes() == at::IntArrayRef({10, 2}));
  REQUIRE(model->embedding->weight.size(1) == 10);
  REQUIRE(model->node_mean.size(0) == 2);
  model->standardize(graphs, {});
  FeaturedGraphs other = graphs;
  other.node_encoding = graphs.node_encoding.flip(0);
  REQUIRE_FALSE(at::equal(greedy(model, other), greedy(model, graphs)));
  options.encoding_channels = 16;
  require_error([&] { GraphModel{options}; }, {"encoding_channels", "16"});
  options.encoding = 0;
  options.encoding_channels = 6;
  require_error([&] { GraphModel{options}; }, {"encoding_channels", "6"});
}

TEST_CASE("the degree of a node is embedded, at most the largest one", "[graph_model]") {
  GraphModelOptions options = small_options();
  options.max_degree = 2;
  GraphModel model = model_of(options);
  REQUIRE(model->degrees->weight.sizes() == at::IntArrayRef({3, 16}));
  const FeaturedGraphs graphs = featured_graphs({9, 14}, 7);
  const at::Tensor before = greedy(model, graphs);
  model->degrees->weight.data()[2] += 1;
  REQUIRE_FALSE(at::equal(greedy(model, graphs), before));
}

TEST_CASE("a model without the new parts has the parameters that it had", "[graph_model]") {
  std::set<std::string> names;
  for (const auto& parameter : model_of(small_options())->named_parameters()) names.insert(parameter.key());
  for (const auto& buffer : model_of(small_options())->named_buffers()) names.insert(buffer.key());
  std::set<std::string> expected{
      "embedding.weight",      "numbers.weight",  "numbers.bias",   "pool_head.u", "pool_head.linear.weight",
      "pool_head.linear.bias", "node_mean",       "node_deviation", "edge_mean",   "edge_deviation",
      "target_mean",           "target_deviation"};
  for (const char* layer : {"encoder.layers.0.", "encoder.layers.1."}) {
    for (const char* part : {"attention.w_mul", "attention.b_mul", "attention.w_add", "attention.b_add"}) {
      expected.insert(std::string(layer) + part);
    }
    for (const char* part : {"attention.sampler.projection", "attention.query", "attention.key", "attention.value",
                             "attention.leak", "attention.output", "norm1", "norm2", "expand", "contract"}) {
      expected.insert(std::string(layer) + part + ".weight");
      expected.insert(std::string(layer) + part + ".bias");
    }
  }
  REQUIRE(names == expected);
}

}  // namespace geosft::test::test_graph_model
