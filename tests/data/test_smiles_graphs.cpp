// SPDX-License-Identifier: Apache-2.0
#include "data/smiles_graphs.h"

#include <catch2/catch.hpp>

#include "tests/data/molecules.h"
#include "tests/support.h"

namespace geosft::test::test_smiles_graphs {
using test::require_equal;
using test::require_error;

TEST_CASE("SMILES become packed graphs, invalid ones are counted and named by line") {
  if (!test::has_rdkit()) return;
  const SmilesColumn column = {"m.csv", {"CO", "C(C", "C", "CC(C)(C)(C)C", "C=CN"}, {2, 3, 5, 6, 9}};
  int64_t done = 0;
  const SmilesGraphs out = graphs_from_smiles(column, {"", [&](int64_t i, int64_t) { done = std::max(done, i); }});
  CHECK(done == 5);
  CHECK(out.rows == std::vector<int64_t>{0, 2, 4});
  const PackedGraphs& packed = out.packed;
  check_batch(packed.graphs);
  require_equal(packed.graphs.ptr, at::tensor({0, 2, 3, 6}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.rowptr, at::tensor({0, 1, 2, 2, 3, 5, 6}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col, at::tensor({1, 0, 4, 3, 5, 4}, at::kLong), "col");
  require_equal(packed.edge_categories.select(1, 0), at::tensor({0, 0, 1, 1, 0, 0}, at::kLong), "bonds");
  require_equal(packed.node_categories.select(1, 0), at::tensor({5, 7, 5, 5, 5, 6}, at::kLong), "elements");
  REQUIRE(packed.warnings.size() == 3);
  CHECK(packed.warnings[0] == "m.csv: 2 of 5 SMILES are invalid and left out");
  CHECK_THAT(packed.warnings[1], Catch::Contains("m.csv:3: invalid SMILES \"C(C\""));
  CHECK_THAT(packed.warnings[2], Catch::Contains("m.csv:6") && Catch::Contains("valence"));
}

TEST_CASE("a column without a valid SMILES is refused") {
  if (!test::has_rdkit()) return;
  require_error([] { graphs_from_smiles({"m.csv", {"C(C"}, {4}}); }, {"m.csv", "a valid SMILES", "m.csv:4"});
  require_error([] { graphs_from_smiles({"m.csv", {}, {}}); }, {"m.csv", "a valid SMILES", "no rows"});
}

TEST_CASE("without RDKit SMILES are refused, not left out, with it they are read") {
  const auto read = [] { return graphs_from_smiles({"m.csv", {"C"}, {2}}); };
  if (molecule_library().empty()) {
    require_error([&] { read(); }, {"without RDKit"});
  } else {
    CHECK(read().rows == std::vector<int64_t>{0});
  }
}

}  // namespace geosft::test::test_smiles_graphs
