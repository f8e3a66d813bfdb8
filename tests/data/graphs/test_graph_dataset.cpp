// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <catch2/catch.hpp>

#include "data/graphs/packed_graphs_file.h"
#include "tests/data/files.h"
#include "tests/data/graphs/small_graphs.h"
#include "tests/support.h"

namespace geosft::test::test_graph_dataset {
namespace {

// Two graphs: a pair of linked nodes, and one node with a loop.
void write_set(const TemporaryFolder& folder) {
  write_text(folder / "S_A.txt", "1, 2\n2, 1\n3, 3\n");
  write_text(folder / "S_graph_indicator.txt", "1\n1\n2\n");
  write_text(folder / "S_graph_labels.txt", "-1\n4\n");
}

}  // namespace

TEST_CASE("a TU set becomes categories, values and classes") {
  const TemporaryFolder folder;
  write_set(folder);
  write_text(folder / "S_node_labels.txt", "7\n9\n7\n");
  write_text(folder / "S_edge_labels.txt", "0\n0\n3\n");
  write_text(folder / "S_node_attributes.txt", "0.5, 1\n0.25, 2\n0, 3\n");
  GraphReadOptions as_listed;
  as_listed.coalesce = false;
  const PackedItems packed = open_graph_dataset(folder.path(), as_listed);
  CHECK(open_graph_dataset(folder.path()).graphs.graph.edges() == 2);  // without the self-loop
  ItemSchema schema = {GraphTask::classification, {2}, 2, {2}, 0, false, {"-1", "4"}};
  schema.node_labels = {7, 9};
  schema.edge_labels = {0, 3};
  CHECK(packed.schema == schema);
  require_equal(packed.target, at::tensor({0, 1}, at::kLong), "target");
  require_equal(packed.node_categories.squeeze(1), at::tensor({0, 1, 0}, at::kLong), "node_categories");
  require_equal(packed.edge_categories.squeeze(1), at::tensor({0, 0, 1}, at::kLong), "edge_categories");
  CHECK(packed.node_values.sizes() == at::IntArrayRef({3, 2}));
  CHECK_FALSE(packed.edge_values.defined());
  CHECK_FALSE(packed.split);
}

TEST_CASE("a TU set without the graph of each node is refused by the name of the file") {
  const TemporaryFolder folder;
  write_set(folder);
  std::filesystem::remove(folder / "S_graph_indicator.txt");
  require_error([&] { open_graph_dataset(folder.path()); }, {"S_graph_indicator.txt beside S_A.txt", "no such file"});
}

TEST_CASE("a TU set of attributes is a regression") {
  const TemporaryFolder folder;
  write_set(folder);
  std::filesystem::remove(folder / "S_graph_labels.txt");
  write_text(folder / "S_graph_attributes.txt", "1.5, 2\n-1, 0\n");
  const PackedItems packed = open_graph_dataset(folder.path());
  CHECK(packed.schema == ItemSchema{GraphTask::regression, {}, 0, {}, 0, false, {"target 0", "target 1"}});
  require_equal(packed.target, at::tensor({1.5f, 2.0f, -1.0f, 0.0f}).view({2, 2}), "target");
}

TEST_CASE("every form of graph dataset is recognised") {
  const TemporaryFolder folder;
  write_packed_graphs(folder / "set.h5", small_graphs());
  CHECK(open_graph_dataset(folder / "set.h5").size() == 7);
  write_text(folder / "text", "text");
  require_error([&] { open_graph_dataset(folder / "text"); },
                {"text", "HDF5", "TU's form", "SMILES", "another format"});
  write_text(folder / "m.xyz", "1\ny=1\nHe 0 0 0\n1\ny=3\nHe 0 0 0\n");
  CHECK(open_graph_dataset(folder / "m.xyz", {folder / "cache"}).size() == 2);
  write_text(folder / "m.smi", "C\n");
  require_error([&] { open_graph_dataset(folder / "m.smi"); },
                {"m.smi", "a folder, such as one in TU's form, packed graphs", "SMILES"});
  write_text(folder / "peptides/peptide_multi_class_dataset.csv", "smiles,label\n");
  require_error([&] { open_graph_dataset(folder / "peptides", {folder / "cache"}); },
                {"peptide_multi_class_dataset.csv:1", "labels"});
  write_text(folder / "ogb/raw/graph-label.csv", "1\n");
  require_error([&] { open_graph_dataset(folder / "ogb", {folder / "cache"}); }, {"num-node-list.csv"});
  write_text(folder / "qm7/hof_qm7.txt", "0001.xyz 1\n");
  require_error([&] { open_graph_dataset(folder / "qm7", {folder / "cache"}); }, {"0001.xyz"});
}

TEST_CASE("what is no graph dataset is said, with what was looked for") {
  const TemporaryFolder folder;
  require_error([&] { open_graph_dataset(folder.path()); },
                {folder.path().string(), "_A.txt", "hof_qm7.txt", "none of these"});
  require_error([&] { open_graph_dataset(folder / "absent"); }, {"absent", "nothing of this name"});
  write_set(folder);
  require_error([&] { open_graph_dataset(folder.path(), {{}, {}, "scaffold"}); }, {"splits", "scaffold", "OGB"});
  write_text(folder / "S_graph_labels.txt", "-1\n");
  require_error([&] { open_graph_dataset(folder.path()); }, {"S_graph_labels.txt", "2"});
}

}  // namespace geosft::test::test_graph_dataset
