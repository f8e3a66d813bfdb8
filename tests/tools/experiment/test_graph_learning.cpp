// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_learning.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/tools/experiment/small_graph_model.h"

namespace geosft::test::test_graph_learning {
namespace {

Checkpoint checkpoint_of(GraphRun& run) {
  Checkpoint checkpoint{{}, describe_run<GraphLearning>(run.settings, {run.schema}, false).texts()};
  for (const auto& [name, tensor] : module_state(*run.model)) checkpoint.tensors.emplace("model." + name, tensor);
  return checkpoint;
}

}  // namespace

TEST_CASE("a graph model comes back from its checkpoint as it was") {
  for (const GraphTask task : graph_tasks) {
    const TemporaryFolder folder;
    GraphRun run = small_graph_run(small_graphs(task).schema);
    run.model->standardize(small_graphs(task), at::randn({7, 3}, generator(3)));
    save_checkpoint(folder / "x.ckpt", checkpoint_of(run));
    const GraphRun loaded = load_graph_run(folder / "x.ckpt");
    CHECK(loaded.schema == run.schema);
    CHECK(loaded.settings.model.dim == 16);
    CHECK_FALSE(loaded.model->is_training());
    for (const auto& [name, tensor] : module_state(*loaded.model)) {
      require_equal(tensor, module_state(*run.model).at(name), name);
    }
  }
}

TEST_CASE("a run is described by its settings and its data") {
  GraphSettings settings = small_graph_settings();
  settings.train.epochs = 7;
  const RunDescription run = describe_run<GraphLearning>(settings, {small_graphs(GraphTask::regression).schema}, true);
  CHECK(run.names == std::vector<std::string>{"a", "b", "c"});
  CHECK(run.epochs == 7);
  CHECK(run.data == "somewhere");
  CHECK(run.held_out);
  CHECK(run.score.name == "mae");
  CHECK(run.texts().at("kind") == "geosft-graph");
  CHECK(schema_of(run.texts().at("schema"), "f") == small_graphs(GraphTask::regression).schema);
}

TEST_CASE("what is no schema, and data of another one, are refused") {
  for (const char* text : {"", "{}", "[1]", R"({"task":"sorting"})"}) {
    require_error([&] { schema_of(text, "f.ckpt"); }, {"f.ckpt", "schema"});
  }
  const GraphRun run = small_graph_run(small_graphs().schema);
  run.check_same({small_graphs().schema}, "DATA");
  ItemSchema other = small_graphs().schema;
  other.node_values = 3;
  require_error([&] { run.check_same({other}, "DATA"); }, {"DATA", "values a node: 2", "found values a node: 3"});
}

TEST_CASE("a run of before features that the head does not see were left out of the schema takes its data") {
  ItemSchema earlier = small_graphs().schema;
  earlier.graph_features = 5;
  const GraphRun run = small_graph_run(earlier);
  run.check_same({small_graphs().schema}, "DATA");
  ItemSchema other = earlier;
  other.graph_features = 6;
  require_error([&] { run.check_same({other}, "DATA"); },
                {"DATA", "features of whole graphs: 5", "found features of whole graphs: 6"});
}

TEST_CASE("a run knows the numbers that its labels had, and one of before they were kept takes any") {
  ItemSchema schema = small_graphs(GraphTask::multi_label).schema;
  const std::string before = schema_text(schema);
  schema.label_values = {-1, 1, 0, 1, 1, 2};
  CHECK(schema_of(schema_text(schema), "f").label_values == schema.label_values);
  CHECK(schema_of(before, "f").label_values.empty());
  const GraphRun run = small_graph_run(schema);
  run.check_same({small_graphs(GraphTask::multi_label).schema}, "DATA");
  ItemSchema other = schema;
  other.label_values[0] = 0;
  require_error([&] { run.check_same({other}, "DATA"); }, {"DATA", "numbers of labels: 6 (-1, 1", "6 (0, 1"});
}

TEST_CASE("a run knows the labels that its set had, and one of before they were kept takes any") {
  const TemporaryFolder folder;
  ItemSchema labelled = small_graphs().schema;
  labelled.node_labels = {1, 5};
  labelled.edge_labels = {2};
  ItemSchema other = labelled;
  other.node_labels = {1, 6};
  GraphRun run = small_graph_run(labelled);
  run.check_same({labelled}, "DATA");
  run.check_same({small_graphs().schema}, "DATA");
  require_error([&] { run.check_same({other}, "DATA"); },
                {"DATA", "labels of nodes: 2 (1, 5)", "found labels of nodes: 2 (1, 6)"});
  Checkpoint checkpoint = checkpoint_of(run);
  save_checkpoint(folder / "x.ckpt", checkpoint);
  CHECK(load_graph_run(folder / "x.ckpt").schema == labelled);
  check_same_outputs(checkpoint, checkpoint.texts, folder / "x.ckpt", "DATA");
  const auto others = describe_run<GraphLearning>(run.settings, {other}, false).texts();
  require_error([&] { check_same_outputs(checkpoint, others, folder / "x.ckpt", "DATA"); }, {"DATA", "labels"});
  checkpoint.texts["labels"] = "{}";
  save_checkpoint(folder / "x.ckpt", checkpoint);
  require_error([&] { load_graph_run(folder / "x.ckpt"); }, {"x.ckpt", "labels"});
  checkpoint.texts.erase("labels");
  save_checkpoint(folder / "x.ckpt", checkpoint);
  CHECK(load_graph_run(folder / "x.ckpt").schema == small_graphs().schema);
  check_same_outputs(checkpoint, others, folder / "x.ckpt", "DATA");
  load_graph_run(folder / "x.ckpt").check_same({other}, "DATA");
}

}  // namespace geosft::test::test_graph_learning
