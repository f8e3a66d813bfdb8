// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_inputs.h"

#include <catch2/catch.hpp>

#include "tests/data/graphs/molecules.h"
#include "tests/support.h"

namespace geosft::test::test_molecule_scaffold {
using Items = std::vector<int64_t>;

TEST_CASE("a scaffold is the rings and what links them, with stereochemistry") {
  if (!has_rdkit()) return;
  REQUIRE(murcko_scaffold("CC(=O)Oc1ccccc1C(=O)O") == "c1ccccc1");
  REQUIRE(murcko_scaffold("CCO").empty());
  REQUIRE(murcko_scaffold("C1CC1CCc1ccncc1C") == "c1cc(CCC2CC2)ccn1");
  // Atoms with a double bond to the scaffold belong to it.
  REQUIRE(murcko_scaffold("O=C1CCC(=Cc2ccccc2)C1") == "O=C1CCC(=Cc2ccccc2)C1");
  REQUIRE(murcko_scaffold("C[C@H]1CC[C@@H](C2CCCCC2)O1") == "C1CCC([C@@H]2CCCO2)CC1");
  REQUIRE_THROWS_AS(murcko_scaffold("C(C"), std::invalid_argument);
}

TEST_CASE("scaffolds are numbered by their first molecule") {
  if (!has_rdkit()) return;
  REQUIRE(scaffold_groups({"c1ccccc1C", "CCO", "Cc1ccccc1", "C(C", "C1CC1", "CC", "C(C"}) ==
          Items{0, 1, 0, 2, 3, 1, 2});
}

TEST_CASE("groups are assigned whole, the largest first") {
  // Sizes: group 7 has 4 items, 1 and 2 have 2, 3 and 4 have 1. Of equal groups the one that begins last comes first.
  const DatasetSplit split = grouped_split({1, 7, 2, 7, 1, 3, 7, 2, 7, 4}, 0.6, 0.2);
  REQUIRE(split.train == Items{1, 2, 3, 6, 7, 8});
  REQUIRE(split.validation == Items{0, 4});
  REQUIRE(split.test == Items{5, 9});
  // A group that is too large for the rest of the training split does not end it.
  const DatasetSplit uneven = grouped_split({0, 0, 0, 1, 1, 1, 2, 3, 4, 5}, 0.5, 0.2);
  REQUIRE(uneven.train == Items{3, 4, 5, 8, 9});
  REQUIRE(uneven.validation == Items{0, 1, 2});
  REQUIRE(uneven.test == Items{6, 7});
  REQUIRE(grouped_split({}).train.empty());
}

}  // namespace geosft::test::test_molecule_scaffold
