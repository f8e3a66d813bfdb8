// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_inputs.h"

#include <catch2/catch.hpp>

#include "data/graphs/graph_dataset.h"
#include "data/graphs/smiles.h"
#include "tests/data/files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/support.h"

namespace geosft::test::test_molecule_inputs {
namespace {

int64_t files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

// Returns source, target and categories of each edge, ordered by source and target: [E, 2 + columns].
at::Tensor ordered_edges(const PackedItems& packed) {
  const CsrGraph& graph = packed.graphs.graph;
  const at::Tensor source = edge_sources(graph), order = (source * graph.nodes() + graph.col).argsort();
  return at::cat({at::stack({source, graph.col}, 1), packed.edge_categories.to(at::kLong)}, 1).index_select(0, order);
}

}  // namespace

TEST_CASE("features of molecules are rows of a table, and stored") {
  if (!has_rdkit()) return;
  const TemporaryFolder folder;
  const std::vector<std::string> smiles = {"CCO", "C(C", "c1ccccc1O"};
  const GraphVectorOptions options{true, false, {"ecfp4"}, 128};
  int64_t done = 0;
  const auto vectors = [&] {
    return molecule_vectors(smiles, options, folder.path(), [&](int64_t i, int64_t) { done = std::max(done, i); });
  };
  const at::Tensor table = vectors();
  REQUIRE(done == 3);
  REQUIRE(table.sizes() == at::IntArrayRef({3, vector_columns(options)}));
  for (const int64_t row : {0, 2}) {
    require_equal(table[row].nan_to_num(-1),
                  at::tensor(molecule_vector(smiles[static_cast<size_t>(row)], options)).nan_to_num(-1), "row");
  }
  const int64_t described = vector_columns({.descriptors = true});
  REQUIRE(table[1].narrow(0, 0, described).isnan().all().item<bool>());
  REQUIRE(table[1].narrow(0, described, 128).eq(0).all().item<bool>());
  REQUIRE(files_in(folder.path()) == 1);
  done = 0;
  require_equal(vectors().nan_to_num(-1), table.nan_to_num(-1), "stored");
  REQUIRE(done == 0);
  molecule_vectors(smiles, {.fingerprints = {"ecfp4"}, .fingerprint_bits = 128}, folder.path());
  REQUIRE(files_in(folder.path()) == 2);
  // A damaged file is made again.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) write_text(entry.path(), "damaged");
  require_equal(vectors().nan_to_num(-1), table.nan_to_num(-1), "made again");
  REQUIRE(done == 3);
}

TEST_CASE("the scaffold split is that of the groups, stored or not") {
  if (!has_rdkit()) return;
  const TemporaryFolder folder;
  std::vector<std::string> smiles;
  for (const std::string& each : fixture_smiles()) smiles.push_back(each);
  const DatasetSplit expected = grouped_split(scaffold_groups(smiles));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const DatasetSplit split = scaffold_split(smiles, folder.path());
    REQUIRE(split.train == expected.train);
    REQUIRE(split.validation == expected.validation);
    REQUIRE(split.test == expected.test);
  }
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("scaffold splits and features of the OGB molecule sets are the published ones") {
  if (!has_rdkit()) return;
  for (const char* name : {"ogbg_molbace", "ogbg_molesol"}) {
    INFO(name);
    const std::filesystem::path source = real_data(name);
    if (source.empty()) return;
    const TemporaryFolder folder;
    const PackedItems published = read_ogb_dataset(source, {.cache = folder.path()});
    REQUIRE(static_cast<int64_t>(published.smiles.size()) == published.size());
    const DatasetSplit split = scaffold_split(published.smiles);
    REQUIRE(split.train == published.split->train);
    REQUIRE(split.validation == published.split->validation);
    REQUIRE(split.test == published.split->test);
    const SmilesGraphs read = graphs_from_smiles(
        {name, published.smiles, std::vector<int64_t>(published.smiles.size())}, {.chiral_tags = ChiralTags::written});
    require_equal(read.packed.graphs.ptr, published.graphs.ptr, "ptr");
    require_equal(read.packed.node_categories, published.node_categories.to(at::kLong), "atoms");
    // The raw tables list bonds in another order.
    require_equal(ordered_edges(read.packed), ordered_edges(published), "bonds");
  }
}

}  // namespace geosft::test::test_molecule_inputs
