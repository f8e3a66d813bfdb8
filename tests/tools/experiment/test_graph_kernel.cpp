// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_kernel.h"

#include <catch2/catch.hpp>

#include "data/checkpoint.h"
#include "tests/data/files.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/graph_evaluation.h"

namespace geosft::test::test_graph_kernel {
namespace {

at::Tensor example_features(int64_t count) {
  return at::randn({count, 4}, generator(3), at::TensorOptions(at::kDouble)).to(at::kFloat);
}

GraphKernel example_kernel(const PackedItems& graphs, double weight) {
  KernelRidgeOptions options;
  options.labels = graphs.schema.task == GraphTask::multi_label;
  const at::Tensor groups = at::arange(graphs.size(), at::kLong);
  GraphKernel kernel;
  kernel.regression = std::make_shared<const KernelRidge>(
      KernelRidge::fit(example_features(graphs.size()), graphs.target, groups, options));
  kernel.weight = weight;
  return kernel;
}

}  // namespace

TEST_CASE("a kernel regression is averaged with networks: values, and logits of labels, as earlier probabilities") {
  struct Case {
    GraphTask task;
    bool earlier;
  };
  for (const Case& one :
       {Case{GraphTask::regression, false}, {GraphTask::multi_label, false}, {GraphTask::multi_label, true}}) {
    PackedItems graphs = small_graphs(one.task);
    graphs.graph_features = example_features(graphs.size());
    graphs.schema.graph_features = graphs.graph_features.size(1);
    GraphRun run = small_graph_run(graphs.schema);
    const bool values = one.task == GraphTask::regression;
    if (values) run.model->standardize(graphs, graphs.target);
    const std::vector<int64_t> some = {4, 1, 2};
    const at::Tensor alone = run_outputs(run, graphs, some, GraphSplit::test).outputs;
    run.companion = example_kernel(graphs, 0.25);
    if (one.earlier) {
      std::map<std::string, at::Tensor> tensors = run.companion.tensors();
      REQUIRE(tensors.erase("average_logits") == 1);
      run.companion.take(tensors);
      CHECK(run.companion.tensors().size() == tensors.size());
    }
    const at::Tensor both = run_outputs(run, graphs, some, GraphSplit::test).outputs;
    const at::Tensor of_kernel =
        run.companion.regression->predict(graphs.graph_features.index_select(0, at::tensor(some, at::kLong)));
    const auto meant = [&](const at::Tensor& outputs) {
      if (values) return in_units(run.model, one.task, outputs);
      return one.earlier ? outputs.to(at::kDouble).sigmoid() : outputs.to(at::kDouble);
    };
    const at::Tensor expected = 0.75 * meant(alone) + 0.25 * (values ? of_kernel : meant(of_kernel));
    require_close(meant(both), expected, 1e-5, "average");
    graphs.graph_features = at::Tensor();
    require_error([&] { run_outputs(run, graphs, some, GraphSplit::test); }, {"graph_features"});
  }
}

TEST_CASE("a regression sees features that the head of the network does not") {
  PackedItems graphs = small_graphs(GraphTask::multi_label);
  GraphSettings settings = small_graph_settings();
  settings.molecules.head_features = false;
  const std::vector<int64_t> some = {4, 1, 2};
  GraphRun without = small_graph_run(graphs.schema);
  const at::Tensor expected = run_outputs(without, graphs, some, GraphSplit::test).outputs;
  graphs.graph_features = example_features(graphs.size());
  graphs.schema.graph_features = graphs.graph_features.size(1);
  GraphRun run = small_graph_run(graphs.schema, settings);
  require_equal(run_outputs(run, graphs, some, GraphSplit::test).outputs, expected, "the network");
  run.companion = example_kernel(graphs, 1);
  const at::Tensor of_kernel =
      run.companion.regression->predict(graphs.graph_features.index_select(0, at::tensor(some, at::kLong)));
  require_close(run_outputs(run, graphs, some, GraphSplit::test).outputs, of_kernel, 1e-5, "the regression");
}

TEST_CASE("a regression sees fingerprints that the head, which sees the other features, does not") {
  PackedItems graphs = small_graphs(GraphTask::multi_label);
  graphs.graph_features = example_features(graphs.size());
  const int64_t columns = graphs.graph_features.size(1), seen = columns - 3;
  GraphSettings settings = small_graph_settings();
  settings.molecules.fingerprint = "wl1";
  settings.molecules.fingerprint_bits = 3;
  settings.molecules.head_fingerprints = false;
  settings.molecules.kernel_ridge = true;
  graphs.schema.graph_features = seen;
  GraphRun run = small_graph_run(graphs.schema, settings);
  REQUIRE(run.model->options.graph_features == seen);
  const std::vector<int64_t> some = {4, 1, 2};
  const at::Tensor expected = run_outputs(run, graphs, some, GraphSplit::test).outputs;
  PackedItems others = graphs;
  others.graph_features = graphs.graph_features.clone();
  others.graph_features.narrow(1, seen, 3).add_(7);
  require_equal(run_outputs(run, others, some, GraphSplit::test).outputs, expected, "other fingerprints");
  others.graph_features.narrow(1, 0, seen).add_(7);
  REQUIRE_FALSE(run_outputs(run, others, some, GraphSplit::test).outputs.equal(expected));
  run.companion = example_kernel(graphs, 1);
  const at::Tensor of_kernel =
      run.companion.regression->predict(graphs.graph_features.index_select(0, at::tensor(some, at::kLong)));
  require_close(run_outputs(run, graphs, some, GraphSplit::test).outputs, of_kernel, 1e-5, "the regression");
}

TEST_CASE("a kernel regression comes back from its RUN folder, and damage is named") {
  const TemporaryFolder folder;
  const PackedItems graphs = small_graphs(GraphTask::regression);
  GraphKernel loaded;
  loaded.load(folder.path());
  REQUIRE_FALSE(loaded.regression);
  const GraphKernel kernel = example_kernel(graphs, 0.7);
  kernel.save(folder.path());
  loaded.load(folder.path());
  REQUIRE(loaded.weight == 0.7);
  const at::Tensor features = example_features(graphs.size());
  require_equal(loaded.regression->predict(features), kernel.regression->predict(features), "predictions");
  Checkpoint damaged = load_checkpoint(kernel_file(folder.path()));
  damaged.tensors.erase("scores");
  save_checkpoint(kernel_file(folder.path()), damaged);
  require_error([&] { GraphKernel().load(folder.path()); }, {"kernel.ckpt", "scores"});
  damaged.texts["kind"] = "geosft-graph";
  save_checkpoint(kernel_file(folder.path()), damaged);
  require_error([&] { GraphKernel().load(folder.path()); }, {"kernel.ckpt", "another checkpoint"});
}

TEST_CASE("a regression of classes averages logits, and is fitted to graphs without SMILES") {
  PackedItems graphs = small_graphs();
  graphs.graph_features =
      at::cat({graphs.target.unsqueeze(1), 2 - graphs.target.unsqueeze(1)}, 1).to(at::kFloat).log1p();
  graphs.schema.graph_features = 2;
  GraphSettings settings = small_graph_settings();
  settings.molecules.fingerprint = "wl0";
  settings.molecules.fingerprint_bits = 2;
  settings.molecules.head_features = false;
  GraphRun run = small_graph_run(graphs.schema, settings);
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6};
  const at::Tensor alone = run_outputs(run, graphs, all, GraphSplit::test).outputs.to(at::kDouble);
  run.companion.regression = std::make_shared<const KernelRidge>(fit_graph_kernel(graphs, all, settings));
  run.companion.weight = 0.25;
  const at::Tensor of_kernel = run.companion.regression->predict(graphs.graph_features);
  require_equal(of_kernel.argmax(1), graphs.target, "classes");
  const at::Tensor both = run_outputs(run, graphs, all, GraphSplit::test).outputs;
  require_close(both.to(at::kDouble), 0.75 * alone + 0.25 * of_kernel, 1e-5, "average");
}

TEST_CASE("a random forest of labels sees the fingerprints alone") {
  PackedItems graphs = small_graphs(GraphTask::multi_label);
  // Two descriptors, then two counts: each tells the first label.
  const at::Tensor label = graphs.target.narrow(1, 0, 1).to(at::kFloat);
  graphs.graph_features = at::cat({label, label, label, label}, 1);
  GraphSettings settings = small_graph_settings();
  settings.molecules.fingerprint = "wl0";
  settings.molecules.fingerprint_bits = 2;
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6};
  const RandomForest forest = fit_graph_forest(graphs, all, settings);
  const at::Tensor feature = forest.state().at("feature");
  CHECK(feature.masked_select(feature.ge(0)).min().item<int32_t>() == 2);
  CHECK(forest.labels() == graphs.target.size(1));
}

TEST_CASE("targets of nodes, many targets and very large sets have no kernel regression") {
  PackedItems graphs = small_graphs(GraphTask::regression);
  CHECK_THAT(kernel_obstacle(graphs, 1000), Catch::Contains("descriptors"));
  graphs.graph_features = example_features(graphs.size());
  REQUIRE(kernel_obstacle(graphs, 1000).empty());
  REQUIRE(kernel_obstacle(graphs, 33000).empty());
  REQUIRE_FALSE(kernel_obstacle(graphs, 1000000).empty());
  graphs.schema.output_names.resize(60);
  REQUIRE(kernel_obstacle(graphs, 10000).empty());
  REQUIRE_FALSE(kernel_obstacle(graphs, 12001).empty());  // needs landmarks
  graphs.schema.output_names.resize(600);
  REQUIRE_FALSE(kernel_obstacle(graphs, 10000).empty());
  // What takes long is the number of known labels.
  graphs.target = at::full({graphs.size(), 600}, std::numeric_limits<double>::quiet_NaN());
  graphs.target.narrow(0, 0, 1).fill_(1);
  REQUIRE(kernel_obstacle(graphs, 10000).empty());
  graphs.target.fill_(1);
  graphs.schema.task = GraphTask::multi_label;
  REQUIRE(kernel_obstacle(graphs, 10000).empty());  // labels that are all known share a kernel
  graphs.schema.task = GraphTask::classification;
  REQUIRE(kernel_obstacle(graphs, 1000).empty());
  graphs.schema.task = GraphTask::node_classification;
  CHECK_THAT(kernel_obstacle(graphs, 1000), Catch::Contains("node_classification"));
}

}  // namespace geosft::test::test_graph_kernel
