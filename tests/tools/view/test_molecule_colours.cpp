// SPDX-License-Identifier: Apache-2.0
#include "tools/view/molecule_colours.h"

#include <catch2/catch.hpp>

#include "data/graphs/molecule_features.h"
#include "tests/support.h"

namespace geosft::test::test_molecule_colours {
using namespace view;

TEST_CASE("atoms have the names, counts and colours of their elements") {
  ItemSchema schema;
  schema.node_vocabulary = atom_vocabulary;
  FeaturedGraphs molecule;
  molecule.node_categories = at::zeros({4, 9}, at::kByte);
  molecule.node_categories.select(1, 0).copy_(at::tensor({5, 7, 5, 118}, at::kByte));  // C, O, C, none
  const auto elements = elements_of(schema, molecule);
  REQUIRE(elements);
  require_equal(elements->labels, at::tensor({5, 7, 5, 118}, at::kLong), "labels");
  REQUIRE(elements->names.size() == 3);
  REQUIRE(elements->names[0].first == "C, 2");
  REQUIRE(elements->names[1].first == "O, 1");
  REQUIRE(elements->names[2].first == "no element, 1");
  require_equal(elements->colours[0], elements->colours[2], "both carbons");
  REQUIRE(elements->colours[1][0].item<double>() > 0.8);  // oxygen is red
  REQUIRE(elements->colours[1][2].item<double>() < 0.2);
  schema.node_vocabulary = {7};
  REQUIRE_FALSE(elements_of(schema, molecule));
}

TEST_CASE("bonds have as many lines as their order, aromatic ones their own kind") {
  ItemSchema schema;
  schema.edge_vocabulary = bond_vocabulary;
  FeaturedGraphs molecule;
  molecule.edge_categories = at::zeros({5, 3}, at::kByte);
  molecule.edge_categories.select(1, 0).copy_(at::tensor({0, 1, 2, 3, 4}, at::kByte));
  require_equal(bond_lines(schema, molecule), at::tensor({1, 2, 3, 4, 1}, at::kLong), "lines");
  schema.edge_vocabulary = {4};
  REQUIRE_FALSE(bond_lines(schema, molecule).defined());
}

}  // namespace geosft::test::test_molecule_colours
