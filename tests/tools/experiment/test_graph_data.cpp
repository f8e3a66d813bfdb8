// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_data.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "graph/random_walk_pe_estimate.h"
#include "tests/data/graphs/molecules.h"
#include "tests/environment.h"
#include "tests/tensors.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_data {
namespace {

// Every graph of the dataset, ascending.
std::vector<int64_t> all_of(const DatasetSplit& split) {
  std::vector<int64_t> all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("folds test every graph once, and a share of the rest can be held out") {
  const TemporaryFolder folder;
  write_tiny_graphs(folder / "data");
  GraphSettings settings;
  settings.data = (folder / "data").string();
  settings.splits.folds = 4;
  const PackedItems graphs = open_encoded_graphs(settings);
  std::vector<int64_t> tested;
  for (settings.splits.fold = 0; settings.splits.fold < 4; ++settings.splits.fold) {
    const DatasetSplit split = split_of(graphs, settings.splits);
    CHECK(split.test.size() == 6);
    CHECK(split.validation.empty());
    CHECK(all_of(split).size() == 24);
    tested.insert(tested.end(), split.test.begin(), split.test.end());
  }
  std::sort(tested.begin(), tested.end());
  CHECK(std::adjacent_find(tested.begin(), tested.end()) == tested.end());
  settings.splits.fold = 1;
  settings.splits.validation_fraction = 0.25;
  const DatasetSplit split = split_of(graphs, settings.splits);
  CHECK(split.validation.size() == 4);
  CHECK(split.train.size() == 14);
  const std::vector<int64_t> all = all_of(split);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(items_of_split(split, GraphSplit::validation) == split.validation);
  settings.splits.folds = 25;
  require_error([&] { split_of(graphs, settings.splits); }, {"folds", "24", "25"});
}

TEST_CASE("which of several variants of a dataset in a folder is read is said") {
  const TemporaryFolder folder;
  const auto said = [&] {
    const CapturedStderr captured;
    open_graphs(folder.path().string());
    return captured.text();
  };
  for (const char* part : {"TRAIN", "TEST"}) {
    write_text(folder / ("S_" + std::string(part) + ".tsv"), "1\t0.5\t1.5\n2\t2\t3\n");
  }
  CHECK(said().empty());
  write_text(folder / "S_TRAIN.arff", "@relation S\n");
  CHECK_THAT(said(), Catch::Contains("of several variants S_TRAIN.tsv is taken, not S_TRAIN.arff"));
  for (const char* part : {"TRAIN", "TEST"}) {
    write_text(folder / ("S_" + std::string(part) + ".ts"), "@classLabel true a b\n@data\n1,2:a\n2,3:b\n");
  }
  CHECK_THAT(said(), Catch::Contains("S_TRAIN.ts is taken, not S_TRAIN.tsv, S_TRAIN.arff"));
}

TEST_CASE("a published split is taken as it is") {
  PackedItems graphs = small_graphs();
  graphs.split = DatasetSplit{{0, 1, 2, 3}, {4}, {5, 6}};
  SplitSettings settings;
  settings.validation_fraction = 0.5;
  const DatasetSplit split = split_of(graphs, settings);
  CHECK(split.train == graphs.split->train);
  CHECK(split.validation == graphs.split->validation);
  CHECK(split.test == graphs.split->test);
  CHECK(enum_names<GraphSplit>() == std::vector<std::string>{"train", "validation", "test"});
}

TEST_CASE("the split is the one that the settings name") {
  if (!has_rdkit()) return;
  PackedItems graphs = small_graphs();
  SplitSettings settings;
  settings.folds = 2;
  const DatasetSplit folds = split_of(graphs, settings);
  REQUIRE(folds.validation.empty());
  settings.split = SplitKind::random;
  const DatasetSplit random = split_of(graphs, settings);
  REQUIRE(random.train.size() == 5);
  REQUIRE(random.validation.size() == 1);
  REQUIRE(random.test.size() == 1);
  REQUIRE(all_of(random) == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6});
  bool differs = false;
  for (settings.split_seed = 1; settings.split_seed < 5; ++settings.split_seed) {
    differs = differs || split_of(graphs, settings).train != random.train;
  }
  REQUIRE(differs);
  settings.split_seed = 0;
  for (const SplitKind split : {SplitKind::file, SplitKind::scaffold}) {
    settings.split = split;
    require_error([&] { split_of(graphs, settings); }, {"split", name_of(split)});
  }
  graphs.smiles = {"C1CC1", "C1CC1C", "CC1CC1", "c1ccccc1", "Cc1ccccc1", "C1CCC1", "CC"};
  const DatasetSplit scaffold = split_of(graphs, settings);
  REQUIRE(scaffold.train == std::vector<int64_t>{0, 1, 2, 3, 4});
  settings.split = SplitKind::automatic;
  REQUIRE(split_of(graphs, settings).test == scaffold.test);
  graphs.split = DatasetSplit{{0, 1, 2, 3}, {4}, {5, 6}};
  REQUIRE(split_of(graphs, settings).test == graphs.split->test);
  settings.split = SplitKind::folds;
  REQUIRE(split_of(graphs, settings).test == folds.test);
}

TEST_CASE("features of molecules need SMILES, and have a column each") {
  if (!has_rdkit()) return;
  PackedItems graphs = small_graphs();
  MoleculeSettings settings;
  take_graph_vectors(graphs, settings, "data");
  REQUIRE_FALSE(graphs.graph_features.defined());
  settings.fingerprint = "ecfp2,torsion";
  settings.fingerprint_bits = 32;
  require_error([&] { take_graph_vectors(graphs, settings, "some/data"); }, {"SMILES", "some/data"});
  PackedItems of_nodes = small_graphs(GraphTask::node_classification), sequences = small_graphs();
  sequences.schema.items = "sequences";
  require_error([&] { take_graph_vectors(of_nodes, settings, "some/data"); }, {"labels of nodes", "some/data"});
  require_error([&] { take_graph_vectors(sequences, settings, "some/data"); }, {"sequences", "some/data"});
  graphs.smiles.assign(7, "CCO");
  take_graph_vectors(graphs, settings, "data");
  REQUIRE(graphs.schema.graph_features == 64);
  REQUIRE(graphs.graph_features.sizes() == at::IntArrayRef({7, 64}));
  check_packed_items(graphs, "data");
}

TEST_CASE("where nodes are split every part has all graphs, and targets of the part alone") {
  PackedItems graphs = small_graphs(GraphTask::node_classification);
  graphs.node_split = at::arange(24) % 3;
  const DatasetSplit split = split_of(graphs, {});
  CHECK(split.train.size() == 7);
  CHECK(split.test == split.train);
  const at::Tensor test = targets_of_split(graphs.target, graphs.node_split, GraphSplit::test);
  CHECK((test.masked_select(graphs.node_split != 2) == -1).all().item<bool>());
  require_equal(test.masked_select(graphs.node_split == 2), graphs.target.masked_select(graphs.node_split == 2),
                "test");
  require_equal(targets_of_split(graphs.target, {}, GraphSplit::test), graphs.target, "no split of nodes");
  const PackedItems labelled = small_graphs(GraphTask::node_multi_label);
  const at::Tensor labels = targets_of_split(labelled.target, graphs.node_split, GraphSplit::test);
  const at::Tensor rows = (graphs.node_split == 2).nonzero().squeeze(1);
  require_equal(labels.isnan().any(1), graphs.node_split != 2, "missing");
  require_equal(labels.index_select(0, rows), labelled.target.index_select(0, rows), "labels");
}

TEST_CASE("a part in which no node has a target is empty") {
  PackedItems graphs = small_graphs(GENERATE(GraphTask::node_classification, GraphTask::node_multi_label));
  graphs.node_split = at::arange(24) % 3;
  const at::Tensor validation = graphs.node_split == 1;
  SplitSettings settings;
  SECTION("no node is of the part") {
    graphs.node_split.masked_fill_(validation, -1);
  }
  SECTION("its nodes have none") {
    if (graphs.target.is_floating_point()) {
      graphs.target.masked_fill_(validation.unsqueeze(1), std::numeric_limits<double>::quiet_NaN());
    } else {
      graphs.target.masked_fill_(validation, -1);
    }
  }
  const DatasetSplit split = split_of(graphs, settings);
  CHECK(split.validation.empty());
  CHECK(split.train.size() == 7);
  CHECK(split.test == split.train);
  settings.validation_fraction = 0.2;
  require_error([&] { split_of(graphs, settings); }, {"validation_fraction", "nodes"});
}

TEST_CASE("classes without a graph or node in a part are named") {
  PackedItems graphs = small_graphs();
  const int64_t count = graphs.size();
  graphs.schema.output_names = {"first", "second", "third"};
  graphs.target = at::arange(count, at::kLong) % 2;
  DatasetSplit split{{0, 1, 2}, {}, {3, 5}};
  using Texts = std::vector<std::string>;
  CHECK(empty_classes_warnings(graphs, split) == Texts{"1 of 3 classes has no graph to train with: third",
                                                       "2 of 3 classes have no graph to test with: first, third"});
  graphs.schema.output_names.pop_back();
  split.test = {3, 4};
  CHECK(empty_classes_warnings(graphs, split).empty());
  PackedItems nodes = small_graphs(GraphTask::node_classification);
  nodes.node_split = at::Tensor();
  nodes.schema.output_names = {"first", "second"};
  nodes.target = at::zeros({nodes.graphs.graph.nodes()}, at::kLong);
  nodes.target[0] = 1;  // of the first graph
  CHECK(empty_classes_warnings(nodes, split) == Texts{"1 of 2 classes has no node to test with: second"});
  nodes.node_split = at::zeros_like(nodes.target);
  split.test = {0, 1};
  CHECK(empty_classes_warnings(nodes, split) == Texts{"2 of 2 classes have no node to test with: first, second"});
  CHECK(empty_classes_warnings(small_graphs(GraphTask::regression), {{0}, {}, {1}}).empty());
}

TEST_CASE("labels of one kind in a split are told, and where they leave nothing to choose by") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  PackedItems graphs = small_graphs();
  graphs.schema.task = GraphTask::multi_label;
  graphs.schema.output_names = {"a", "b"};
  graphs.target = at::zeros({graphs.size(), 2});
  graphs.target.index_put_({at::tensor({0, 2}, at::kLong), at::tensor({0, 0}, at::kLong)}, at::ones({2}));
  graphs.target[3][1] = nan;
  using Texts = std::vector<std::string>;
  CHECK(one_sided_labels_warnings(graphs, {{4}, {0, 1}, {2, 3}}) ==
        Texts{"1 of 2 labels without both 0 and 1 in the validation split: b",
              "1 of 2 labels without both 0 and 1 in the test split: b"});
  graphs.target[1][1] = graphs.target[3][1] = 1;
  CHECK(one_sided_labels_warnings(graphs, {{4}, {0, 1}, {2, 3}}).empty());
  CHECK(one_sided_labels_warnings(graphs, {{0, 1, 2}, {4, 5}, {}}) ==
        Texts{"2 of 2 labels without both 0 and 1 in the validation split: a, b; it cannot choose the checkpoint "
              "(--split random is another split)"});
  graphs.schema.task = GraphTask::regression;
  CHECK(one_sided_labels_warnings(graphs, {{4}, {5}, {5}}).empty());
}

TEST_CASE("the label of an item is its class, or its targets, of which some are unknown") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  PackedItems items;
  items.schema.output_names = {"a", "b", "c"};
  items.target = longs({2, 0});
  CHECK(label_of_item(items, 0) == "c");
  items.schema.task = GraphTask::multi_label;
  items.target = at::tensor({1.0, nan, 0.0, nan, nan, nan}, at::kFloat).view({2, 3});
  CHECK(label_of_item(items, 0) == "1;;0");
  CHECK(label_of_item(items, 1).empty());
  items.schema.task = GraphTask::regression;
  items.target = at::tensor({-1.5, 0.1, 1e-9}, at::kFloat).view({1, 3});
  CHECK(label_of_item(items, 0) == "-1.5;0.1;1e-09");
  items.schema.task = GraphTask::node_classification;
  items.target = longs({-1, 0, 0});
  CHECK(label_of_item(items, 0).empty());
}

TEST_CASE("test molecules that are also trained on are counted") {
  PackedItems molecules = small_graphs();
  DatasetSplit split{{0, 1, 2}, {3}, {4, 5, 6}};
  CHECK(shared_molecules_warning(molecules, split).empty());
  molecules.smiles = {"C", "CC", "CCC", "CO", "C", "CO", "CCC"};
  CHECK_THAT(shared_molecules_warning(molecules, split), Catch::StartsWith("2 of the 3 test molecules have a SMILES"));
  molecules.smiles = {"C", "CC", "CCC", "CO", "CN", "CO", "CS"};
  CHECK(shared_molecules_warning(molecules, split).empty());
}

TEST_CASE("the encoding that is asked for is there, and that it is estimated is said") {
  const TemporaryFolder folder;
  const EnvironmentVariable cache("XDG_CACHE_HOME", (folder / "cache").string());
  write_tiny_graphs(folder / "data");
  GraphSettings settings;
  require_error([&] { open_encoded_graphs(settings); }, {"--data"});
  settings.data = (folder / "data").string();
  CHECK_FALSE(open_encoded_graphs(settings).node_encoding.defined());
  settings.model.encoding = NodeEncoding::random_walk;
  settings.model.encoding_columns = 3;
  const PackedItems graphs = open_encoded_graphs(settings);
  CHECK(graphs.node_encoding.sizes() == at::IntArrayRef({graphs.graphs.graph.nodes(), 3}));
  settings.model.encoding_walks = 40;
  settings.model.encoding_seed = 2;
  const CapturedStderr said;
  const at::Tensor estimate = open_encoded_graphs(settings).node_encoding;
  CHECK_THAT(said.text(), Catch::Contains("estimated from 40 walks") && Catch::Contains("standard error"));
  require_equal(
      estimate,
      random_walk_pe_estimate(graphs.graphs.graph.rowptr, graphs.graphs.graph.col, 3, 40, 2).mean.to(at::kFloat),
      "the estimate");
  CHECK(at::allclose(estimate, graphs.node_encoding, 0, 0.5));
}

}  // namespace geosft::test::test_graph_data
