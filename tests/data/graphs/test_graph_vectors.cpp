// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_vectors.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "data/graphs/molecule_vector.h"
#include "graph/weisfeiler_lehman.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_graph_vectors {
namespace {

// The seven small graphs, and one without nodes.
PackedItems example_graphs() {
  PackedItems graphs = small_graphs();
  FeaturedGraphs& features = graphs;
  features = featured_graphs({3, 1, 6, 2, 4, 5, 3, 0}, 21);
  features.node_encoding = at::Tensor();
  return graphs;
}

at::Tensor dense_one_hot(const at::Tensor& categories, int64_t count) {
  return (categories.to(at::kLong).unsqueeze(1) == at::arange(count, at::kLong)).to(at::kDouble);
}

}  // namespace

TEST_CASE("names of fingerprints are read from a list, those of molecules first") {
  REQUIRE(fingerprints_of("none").empty());
  REQUIRE(fingerprints_of("").empty());
  REQUIRE(fingerprints_of("ecfp4,torsion,wl0") == std::vector<std::string>{"ecfp4", "torsion", "wl0"});
  require_error([] { fingerprints_of("ecfp4,ecfp5"); }, {"fingerprint", "ecfp4", "path, wl0", "\"ecfp5\""});
  require_error([] { fingerprints_of("wl1,wl1"); }, {"fingerprint", "once", "\"wl1\""});
  require_error([] { fingerprints_of("ecfp4,"); }, {"fingerprint", "\"\""});
  REQUIRE(fingerprint_names().size() == molecule_fingerprint_names().size() + 4);
}

TEST_CASE("fingerprints of graphs count the labels of their nodes") {
  const PackedItems graphs = example_graphs();
  const int64_t bits = 16, items = graphs.size();
  const at::Tensor found = graph_vectors(graphs, {.fingerprints = {"wl2", "wl0"}, .fingerprint_bits = bits});
  REQUIRE(found.sizes() == at::IntArrayRef({items, 2 * bits}));
  REQUIRE(found.scalar_type() == at::kFloat);
  const at::Tensor labels = weisfeiler_lehman_labels(graphs, 2), ptr = graphs.graphs.ptr;
  for (int64_t item = 0; item < items; ++item) {
    for (int64_t block = 0; block < 2; ++block) {
      std::vector<int64_t> counts(bits, 0);
      for (int64_t node = ptr[item].item<int64_t>(); node < ptr[item + 1].item<int64_t>(); ++node) {
        ++counts[static_cast<size_t>(labels[block == 0 ? 2 : 0][node].item<int64_t>() % bits)];
      }
      for (int64_t bit = 0; bit < bits; ++bit) {
        const float expected = std::log1p(static_cast<float>(counts[static_cast<size_t>(bit)]));
        CHECK(found[item][block * bits + bit].item<float>() == Approx(expected));
      }
    }
  }
}

TEST_CASE("statistics are means and deviations over the nodes, of their neighbours and of theirs") {
  // Float32 of sums in double precision: one rounding, 6e-8 of each.
  const PackedItems graphs = example_graphs();
  const at::Tensor found = graph_statistics(graphs), ptr = graphs.graphs.ptr;
  const at::Tensor adjacency = dense_adjacency(graphs.graphs.graph), degree = adjacency.sum(1, true);
  at::Tensor rows =
      at::cat({dense_one_hot(graphs.node_categories.select(1, 0), 3),
               dense_one_hot(graphs.node_categories.select(1, 1), 5), graphs.node_values.to(at::kDouble), degree},
              1);
  std::vector<at::Tensor> parts;
  for (int64_t hop = 0; hop <= 2; ++hop) {
    std::vector<at::Tensor> of_items;
    for (int64_t item = 0; item + 1 < graphs.size(); ++item) {
      const at::Tensor own = rows.slice(0, ptr[item].item<int64_t>(), ptr[item + 1].item<int64_t>());
      of_items.push_back(at::cat({own.mean(0), own.std(0, /*unbiased=*/false)}));
    }
    parts.push_back(at::stack(of_items));
    rows = adjacency.matmul(rows) / degree.clamp_min(1);
  }
  const at::Tensor expected = at::cat(parts, 1);
  REQUIRE(found.sizes() == at::IntArrayRef({graphs.size(), 2 + expected.size(1)}));
  require_close(found.narrow(1, 2, expected.size(1)).narrow(0, 0, graphs.size() - 1).to(at::kDouble), expected, 1e-6,
                "moments");
  require_equal(found.select(1, 0), ptr.diff().to(at::kFloat), "nodes");
  require_equal(found.select(1, 1).sum(), at::scalar_tensor(graphs.graphs.graph.edges()).to(at::kFloat), "edges");
  REQUIRE(found[graphs.size() - 1].slice(0, 2).isnan().all().item<bool>());
}

TEST_CASE("directed edges lead to neighbours at their targets, and strided tensors are read as they are") {
  PackedItems graphs;
  graphs.graphs = concatenated({graph_of(4, {{0, 1}, {0, 2}, {3, 0}})});
  const at::Tensor found = graph_statistics(graphs)[0];
  // Nodes and edges, then mean and deviation of the degrees 2, 0, 0, 1, of those of neighbours 0, 0, 0, 2, and of
  // theirs.
  const std::vector<double> expected = {4, 3, 0.75, std::sqrt(0.6875), 0.5, std::sqrt(0.75), 0, 0};
  require_close(found.to(at::kDouble), at::tensor(expected, at::kDouble), 1e-6, "statistics");
  const auto strided = [](const at::Tensor& given) { return at::stack({given, given + 1}, 1).select(1, 0); };
  graphs.graphs.graph.rowptr = strided(graphs.graphs.graph.rowptr);
  graphs.graphs.graph.col = strided(graphs.graphs.graph.col);
  require_equal(graph_statistics(graphs)[0], found, "strided");
}

TEST_CASE("a column of many categories is left to the fingerprints, and features may be absent") {
  PackedItems graphs = small_graphs();
  const int64_t all = graph_statistics(graphs).size(1);
  graphs.schema.node_vocabulary = {3, 129};
  REQUIRE(graph_statistics(graphs).size(1) == all - 2 * 3 * 5);
  graphs.schema.node_vocabulary = {};
  graphs.node_categories = graphs.node_values = graphs.edge_categories = at::Tensor();
  REQUIRE(graph_statistics(graphs).size(1) == 2 + 2 * 3);
  REQUIRE(graph_vectors(graphs, {.statistics = true, .fingerprints = {"wl1"}, .fingerprint_bits = 8}).size(1) == 16);
}

TEST_CASE("graphs without SMILES have no features of molecules") {
  const PackedItems graphs = small_graphs();
  require_error([&] { graph_vectors(graphs, {.descriptors = true}); }, {"descriptors", "SMILES", "wl0"});
  require_error([&] { graph_vectors(graphs, {.fingerprints = {"wl0", "ecfp4"}}); }, {"ecfp4", "SMILES", "statistics"});
}

TEST_CASE("descriptors come first, then statistics, then fingerprints of both kinds in their order") {
  if (!has_rdkit()) return;
  PackedItems graphs = small_graphs();
  graphs.smiles.assign(7, "CCO");
  graphs.smiles[2] = "c1ccccc1";
  GraphVectorOptions options{true, true, {"wl0", "ecfp4", "wl1", "torsion"}, 32};
  const at::Tensor all = graph_vectors(graphs, options);
  const int64_t described = vector_columns({.descriptors = true}), counted = all.size(1) - 4 * 32;
  require_equal(all.narrow(1, described, counted - described), graph_statistics(graphs), "statistics");
  const auto alone = [&](const char* name) {
    return graph_vectors(graphs, {.fingerprints = {name}, .fingerprint_bits = 32});
  };
  for (size_t i = 0; i < options.fingerprints.size(); ++i) {
    require_equal(all.narrow(1, counted + 32 * static_cast<int64_t>(i), 32), alone(options.fingerprints[i].c_str()),
                  "fingerprint");
  }
  const at::Tensor molecule = at::tensor(molecule_vector("c1ccccc1", {.descriptors = true}));
  require_equal(all[2].narrow(0, 0, described).nan_to_num(-1), molecule.nan_to_num(-1), "descriptors");
}

}  // namespace geosft::test::test_graph_vectors
