// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_prediction.h"

#include <catch2/catch.hpp>
#include <thread>

#include "data/graphs/packed_graphs_file.h"
#include "tests/data/files.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/graph_evaluation.h"

namespace geosft::test::test_graph_prediction {
namespace {

const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6};

GraphRun encoding_run(const ItemSchema& schema) {
  GraphSettings settings = small_graph_settings();
  settings.model.encoding = NodeEncoding::random_walk;
  settings.model.encoding_columns = 4;
  settings.evaluation.votes = 2;
  return small_graph_run(schema, settings);
}

at::Tensor outputs_of(GraphRun& run, PackedItems graphs) {
  graphs.node_encoding = encoded_nodes(graphs.graphs, run.settings.model.node_encoding()).values;
  return graph_outputs(run.model, graphs, all, GraphSplit::test, run.settings.evaluation).outputs;
}

}  // namespace

TEST_CASE("predictions are probabilities or values in the dataset's units, with the encodings of the run") {
  const GraphTask task = GENERATE(from_range(std::begin(graph_tasks), std::end(graph_tasks)));
  PackedItems graphs = small_graphs(task);
  GraphRun run = encoding_run(graphs.schema);
  const at::Tensor outputs = outputs_of(run, graphs);
  at::Tensor expected = outputs.softmax(1);
  if (has_labels(task)) expected = outputs.sigmoid();
  if (task == GraphTask::regression) {
    run.model->target_mean.fill_(7.0);
    run.model->target_deviation.fill_(3.0);
    expected = outputs * 3.0 + 7.0;
  }
  graphs.target = at::Tensor();  // is not looked at
  const at::Tensor found = predict_graphs(run, graphs);
  CHECK(found.size(0) == (is_of_nodes(task) ? graphs.graphs.graph.nodes() : 7));
  require_close(found.to(at::kFloat), expected.to(at::kFloat), 1e-6, "predictions");
}

TEST_CASE("predictions by estimated encodings are said to be that") {
  const PackedItems graphs = small_graphs();
  GraphRun run = encoding_run(graphs.schema);
  run.settings.model.encoding_walks = 50;
  const CapturedStderr said;
  predict_graphs(run, graphs);
  CHECK_THAT(said.text(), Catch::Contains("estimated from 50 walks") && Catch::Contains("standard error"));
}

TEST_CASE("a dataset has the predictions of its graphs") {
  const PackedItems graphs = small_graphs();
  GraphRun run = encoding_run(graphs.schema);
  const TemporaryFolder folder;
  write_packed_graphs(folder / "set.h5", graphs);
  require_equal(predict_dataset(run, folder / "set.h5"), predict_graphs(run, graphs), "predictions");
  GraphRun other = small_graph_run(small_graphs(GraphTask::regression).schema);
  require_error([&] { predict_dataset(other, folder / "set.h5"); }, {"set.h5", "classification", "regression"});
  require_error([&] { predict_dataset(run, folder / "none.h5"); }, {"none.h5"});
}

TEST_CASE("eight threads that share a model of graphs give the predictions that one gives") {
  const PackedItems graphs = small_graphs();
  GraphRun run = encoding_run(graphs.schema);
  const at::Tensor alone = predict_graphs(run, graphs);
  std::vector<at::Tensor> found(8);
  std::vector<std::thread> threads;
  for (at::Tensor& mine : found) {
    threads.emplace_back([&mine, &run, &graphs] {
      for (int round = 0; round < 4; ++round) mine = predict_graphs(run, graphs);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const at::Tensor& mine : found) require_equal(mine, alone, "predictions");
}

TEST_CASE("graphs with other features than the run's are refused by name") {
  const PackedItems graphs = small_graphs();
  GraphRun run = encoding_run(graphs.schema);
  const auto refused = [&](const auto& change, const std::vector<std::string>& words) {
    FeaturedGraphs changed = graphs;
    change(changed);
    require_error([&] { predict_graphs(run, changed); }, words);
  };
  refused([](auto& g) { g.node_categories = at::Tensor(); }, {"node_categories"});
  refused([](auto& g) { g.node_categories = g.node_categories + 9; }, {"node_categories"});
  refused([](auto& g) { g.edge_values = g.edge_values.slice(1, 0, 1); }, {"edge_values"});
  refused([](auto& g) { g.coordinates = g.coordinates.slice(0, 0, 2); }, {"coordinates"});
  refused([](auto& g) { g.graphs.ptr = at::tensor({0, 24}, at::kLong) + 1; }, {"ptr"});
}

}  // namespace geosft::test::test_graph_prediction
