// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_task.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>

#include "models/training/autocast.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/experiment/split_task.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_graph_task {
namespace {

struct Example {
  PackedItems graphs;
  DatasetSplit split{{0, 1, 2, 3}, {4}, {5, 6}};
  GraphSettings settings = small_graph_settings();

  explicit Example(GraphTask task) : graphs(small_graphs(task)) {}
  GraphTraining task() const {
    return GraphTraining(small_graph_run(graphs.schema, settings).model, graphs, split, settings);
  }
};

}  // namespace

TEST_CASE("a step is the loss of the next batch, which can be differentiated") {
  const auto precision = GENERATE(at::kFloat, at::kBFloat16);
  for (const GraphTask kind : graph_tasks) {
    const Example example(kind);
    const Autocast autocast = autocast_to(precision);
    GraphTraining task = example.task();
    CHECK(task.steps_per_epoch() == 2);
    auto [same, step] = FirstStep(task);
    GraphLoader loader(example.graphs, example.split.train, {.batch_size = 3, .shuffle = true, .seed = 0});
    loader.start_epoch(0);
    const LabelledItems batch = loader.next().value();
    GraphModel model = small_graph_run(example.graphs.schema, example.settings).model;
    SamplingContext context = SamplingContext::training(same);
    const at::Tensor outputs = model->forward(batch, context);
    CHECK(outputs.scalar_type() == precision);
    CHECK(step.loss.item<double>() == Approx(graph_loss(kind, outputs.to(at::kFloat), batch.target).item<double>()));
    CHECK(step.metrics.items == 3);
    const auto seen = task.last_batch();
    require_equal(seen.at("target"), batch.target, "targets of the last batch");
    require_equal(seen.at("index"), at::tensor(batch.items, at::kLong), "its items");
    CHECK(seen.count("coordinates") == (batch.coordinates.defined() ? 1 : 0));
    CHECK(step.metrics.mean_loss() == Approx(step.loss.item<double>()));
    CHECK(std::isnan(step.metrics.score) == has_labels(kind));
    step.loss.backward();
  }
}

// The bound is that of float32: sums of some hundred terms, rounded in another order.
TEST_CASE("parts of a batch of graphs add up to the batch") {
  for (const GraphTask kind : graph_tasks) {
    Example example(kind);
    example.settings.train.batch_size = 4;
    GraphTraining task = example.task();
    task.module().train();
    require_parts_add_up(task, 1e-4);
  }
}

TEST_CASE("validation is the metric over the held-out split, negative where lower is better") {
  for (const GraphTask kind : graph_tasks) {
    Example example(kind);
    example.split = {{0, 1, 2}, {3, 4, 5, 6}, {}};
    GraphTraining task = example.task();
    const std::optional<MetricSum> metric_sum = task.validate();
    REQUIRE(metric_sum);
    CHECK(metric_sum->items == 4);
    GraphModel model = small_graph_run(example.graphs.schema, example.settings).model;
    const NamedValues values = evaluation_metrics(model, kind,
                                                  graph_outputs(model, example.graphs, example.split.validation,
                                                                GraphSplit::validation, example.settings.evaluation));
    CHECK(metric_sum->mean_loss() == Approx(value_of(values, "loss")));
    CHECK(metric_sum->mean_score() == Approx((kind == GraphTask::regression ? -1 : 1) * values.front().second));
  }
}

TEST_CASE("validation runs on the held-out split, else on the monitored test split") {
  SplitSettings settings;
  CHECK(validation_split({{0}, {1}, {2}}, settings) == GraphSplit::validation);
  CHECK_FALSE(validation_split({{0}, {}, {2}}, settings));
  settings.monitor_test = true;
  CHECK(validation_split({{0}, {}, {2}}, settings) == GraphSplit::test);
  Example example(GraphTask::classification);
  example.split.validation.clear();
  CHECK_FALSE(example.task().validate());
}

TEST_CASE("nodes outside the training split are not trained on") {
  Example example(GENERATE(GraphTask::node_classification, GraphTask::node_multi_label));
  example.graphs.node_split = at::full({24}, 2, at::kLong);
  example.split = {{0, 1, 2, 3, 4, 5, 6}, {}, {0, 1, 2, 3, 4, 5, 6}};
  GraphTraining task = example.task();
  task.start_epoch(0, 0);
  at::Generator random = generator(1);
  CHECK(task.step(random).loss.item<double>() == 0.0);
}

TEST_CASE("a signal breaks a validation of graphs off") {
  const Example example(GraphTask::classification);
  GraphTraining task = example.task();
  require_validation_ends_by_signal(task);
}

TEST_CASE("a batch that is normalised as a whole is not split") {
  Example example(GraphTask::classification);
  example.settings.model.local = LocalKind::gine;
  const BatchSize split = [&] {
    GraphTraining task = example.task();
    task.start_epoch(0, 0);
    task.take_batch();
    return task.batch_size();
  }();
  example.settings.model.normalization = NormKind::batch;
  GraphTraining task = example.task();
  task.start_epoch(0, 0);
  task.take_batch();
  REQUIRE(split.items == 3);
  REQUIRE(task.batch_size().items == 0);
  REQUIRE(task.batch_size().elements == split.elements);
}

TEST_CASE("parts of a batch add up to the batch in a model with a convolution") {
  for (const LocalKind local : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    Example example(GraphTask::multi_label);
    example.settings.train.batch_size = 4;
    example.settings.model.local = local;
    example.settings.model.attention = "none";
    example.settings.model.token_dropout = 0.3;
    example.settings.model.head = GraphHead::mean;
    example.settings.model.head_layers = 2;
    example.settings.model.head_dropout = 0.3;
    example.settings.model.virtual_node = true;
    GraphTraining task = example.task();
    task.module().train();
    require_parts_add_up(task, 1e-4);
  }
}

}  // namespace geosft::test::test_graph_task
