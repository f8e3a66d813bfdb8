// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/unlabelled_graphs.h"

#include <catch2/catch.hpp>

#include "data/formats/hdf5_file.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/packed_graphs_file.h"
#include "data/graphs/smiles.h"
#include "tests/data/files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/graphs/small_graphs.h"
#include "tests/support.h"

namespace geosft::test::test_unlabelled_graphs {
namespace {

const ItemSchema structure_alone = {GraphTask::classification, {}, 0, {}, 0, false, {"a", "b"}};

ItemSchema molecule_schema() {
  return {GraphTask::multi_label, atom_vocabulary, 0, bond_vocabulary, 0, false, {"a"}};
}

// Labels 5 and 9 of nodes.
ItemSchema labelled_schema() {
  ItemSchema schema = {GraphTask::classification, {2}, 0, {}, 0, false, {"a", "b"}};
  schema.node_labels = {5, 9};
  return schema;
}

// Two graphs without labels of their own.
void write_set(const TemporaryFolder& folder, const std::string& node_labels) {
  write_text(folder / "N_A.txt", "1, 2\n2, 1\n3, 3\n");
  write_text(folder / "N_graph_indicator.txt", "1\n1\n2\n");
  write_text(folder / "N_node_labels.txt", node_labels);
}

}  // namespace

TEST_CASE("a list of edges is a graph alone, whose nodes keep their numbers") {
  const TemporaryFolder folder;
  for (const char* name : {"edges.txt", "edges.csv"}) {
    write_text(folder / name, "7,2\n2,30\n");
    const UnlabelledGraphs given = read_unlabelled_graphs(folder / name, structure_alone);
    require_equal(given.packed.graphs.ptr, at::tensor({0, 3}, at::kLong), "ptr");
    require_equal(given.packed.graphs.graph.col, at::tensor({2, 1, 0, 0}, at::kLong), "col");
    require_equal(given.node_ids, at::tensor({2, 7, 30}, at::kLong), "node_ids");
    CHECK(given.names == std::vector<std::string>{""});
    CHECK(read_unlabelled_graphs(folder / name, structure_alone, {.directed = true}).packed.graphs.graph.edges() == 2);
    require_error([&] { read_unlabelled_graphs(folder / name, labelled_schema()); },
                  {name, "categories of nodes (2)", "no features"});
  }
  write_text(folder / "edges.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n");
  CHECK(read_unlabelled_graphs(folder / "edges.mtx", structure_alone).packed.graphs.graph.edges() == 4);
}

TEST_CASE("molecules are given by their SMILES") {
  if (!has_rdkit()) return;
  const TemporaryFolder folder;
  write_text(folder / "m.smi", "CO methanol\nC(C\nC#N\n");
  write_text(folder / "m.csv", "smiles\nCO\n");
  const UnlabelledGraphs given = read_unlabelled_graphs(folder / "m.smi", molecule_schema());
  require_equal(given.packed.graphs.ptr, at::tensor({0, 2, 4}, at::kLong), "ptr");
  CHECK(given.names == std::vector<std::string>{"CO methanol", "C#N"});
  REQUIRE(given.packed.warnings.size() == 2);
  CHECK_THAT(given.packed.warnings[1], Catch::Contains("m.smi:2") && Catch::Contains("C(C"));
  CHECK(read_unlabelled_graphs(folder / "m.csv", molecule_schema()).names == std::vector<std::string>{"CO"});
  const UnlabelledGraphs typed = unlabelled_molecules({"CO", "C#N"}, molecule_schema(), "--smiles");
  require_equal(typed.packed.node_categories, given.packed.node_categories, "node_categories");
  require_error([] { unlabelled_molecules({"C(C"}, molecule_schema(), "--smiles"); }, {"--smiles:1", "C(C"});
  require_error([&] { read_unlabelled_graphs(folder / "m.smi", structure_alone); }, {"m.smi", "no features", "119"});
}

TEST_CASE("molecules with coordinates are files of one or several") {
  const TemporaryFolder folder;
  write_text(folder / "water.xyz", "3\nwater\nO 0 0 0\nH 0.96 0 0\nH -0.24 0.93 0\n");
  const ItemSchema schema = {GraphTask::regression, {119}, 0, {}, 1, true, {"energy"}};
  const UnlabelledGraphs given = read_unlabelled_graphs(folder / "water.xyz", schema);
  require_equal(given.packed.node_categories.squeeze(1), at::tensor({7, 0, 0}, at::kLong), "elements");
  CHECK(given.packed.graphs.graph.edges() == 4);
  CHECK(given.packed.coordinates.sizes() == at::IntArrayRef({3, 3}));
  CHECK(given.names == std::vector<std::string>{"water.xyz"});
  write_text(folder / "two.extxyz", "1\nenergy=-1\nO 0 0 0\n2\n\nO 0 0 0\nH 0.96 0 0\n");
  const UnlabelledGraphs two = read_unlabelled_graphs(folder / "two.extxyz", schema);
  require_equal(two.packed.graphs.ptr, at::tensor({0, 1, 3}, at::kLong), "ptr");
  CHECK(two.names == std::vector<std::string>{"two.extxyz:0", "two.extxyz:1"});
  CHECK_FALSE(two.packed.target.defined());
  require_error([&] { read_unlabelled_graphs(folder / "water.xyz", structure_alone); }, {"water.xyz", "coordinates"});
}

TEST_CASE("labels of a set in TU's form keep the classes of the set trained on") {
  const TemporaryFolder folder;
  write_set(folder, "9\n9\n9\n");
  const UnlabelledGraphs given = read_unlabelled_graphs(folder.path(), labelled_schema());
  CHECK(given.packed.size() == 2);
  require_equal(given.packed.node_categories.squeeze(1), at::tensor({1, 1, 1}, at::kLong), "node_categories");
  write_set(folder, "9\n5\n6\n");
  require_error([&] { read_unlabelled_graphs(folder.path(), labelled_schema()); },
                {"N_node_labels.txt:3", "2 labels", "6"});
  ItemSchema older = labelled_schema();
  older.node_labels.clear();
  require_error([&] { read_unlabelled_graphs(folder.path(), older); },
                {folder.path().string(), "did not keep the labels"});
  older.node_vocabulary = atom_vocabulary;
  require_error([&] { read_unlabelled_graphs(folder.path(), older); }, {folder.path().string(), "SMILES", "TU's form"});
  write_text(folder / "empty/text", "");
  require_error([&] { read_unlabelled_graphs(folder / "empty", labelled_schema()); }, {"empty", "*_A.txt", "neither"});
}

TEST_CASE("packed graphs need no targets") {
  const TemporaryFolder folder;
  const PackedItems packed = small_graphs();
  write_packed_graphs(folder / "whole.h5", packed);
  const Hdf5File whole(folder / "whole.h5");
  std::map<std::string, at::Tensor> sets = {{"node_values", whole.read_float("node_values")},
                                            {"edge_values", whole.read_float("edge_values")},
                                            {"coordinates", whole.read_float("coordinates")}};
  for (const char* name : {"geosft_packed_graphs", "ptr", "rowptr", "col", "node_categories", "node_vocabulary",
                           "edge_categories", "edge_vocabulary"}) {
    sets[name] = whole.read_int(name);
  }
  write_hdf5(folder / "bare.h5", sets);
  for (const char* name : {"whole.h5", "bare.h5"}) {
    const UnlabelledGraphs given = read_unlabelled_graphs(folder / name, packed.schema);
    CHECK(given.packed.size() == packed.size());
    require_equal(given.packed.node_categories, packed.node_categories, "node_categories");
    CHECK_FALSE(given.packed.target.defined());
  }
  require_error([&] { read_packed_graphs(folder / "bare.h5"); }, {"bare.h5", "task"});
  sets["col"] = sets["col"] + 1000;
  write_hdf5(folder / "broken.h5", sets);
  require_error([&] { read_unlabelled_graphs(folder / "broken.h5", packed.schema); }, {"broken.h5"});
}

TEST_CASE("what is not there is refused") {
  require_error([] { read_unlabelled_graphs("/nowhere/edges.txt", structure_alone); },
                {"/nowhere/edges.txt", "nothing"});
}

}  // namespace geosft::test::test_unlabelled_graphs
