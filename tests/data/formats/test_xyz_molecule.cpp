// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz_molecule.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_xyz_molecule {
using test::require_error;

namespace {

void require_broken(const std::string& text, std::vector<std::string> words) {
  words.push_back("m.xyz");
  require_error([&] { read_xyz_molecule(text, "m.xyz"); }, words);
}

}  // namespace

TEST_CASE("a molecule of an XYZ file") {
  const XyzMolecule molecule = read_xyz_molecule("2\n charge = 0 #1\nO 0 0.5 1e-1 -0.3\n 1 1.2*^-1 0 0\n\n", "m.xyz");
  CHECK(molecule.comment == "charge = 0 #1");
  CHECK(molecule.elements == std::vector<int64_t>{8, 1});
  CHECK(molecule.positions == std::vector<float>{0, 0.5F, 0.1F, 0.12F, 0, 0});
  CHECK(read_xyz_molecule("1\ngdb 1\nC 0 0 0\n1.5 2.5\nC C\n", "m.xyz").elements.size() == 1);
}

TEST_CASE("broken XYZ files are refused by line") {
  require_broken("", {"number of atoms", "end of the file"});
  require_broken("x\n\n", {":1", "number of atoms", "x"});
  require_broken("0\n\n", {":1", "at least one atom", "0"});
  require_broken("-5\n\n", {":1", "at least one atom"});
  require_broken("2 3\n\n", {":1", "end of the line"});
  require_broken("1000000000000\n\nC 0 0 0\n", {"1000000000000 atoms", "1"});
  require_broken("1\n\nC 0 0 0\nC 1 0 0\n", {":4", "after 1 atoms", "another line"});
  require_broken("1\n\nXx 0 0 0\n", {":3", "symbol of an element", "Xx"});
  require_broken("1\n\nC 0 0\n", {":3", "a coordinate", "end of the line"});
  require_broken("1\n\nC 0 nan 0\n", {":3", "finite", "nan"});
  require_broken("1\n\nC 0 1e39 0\n", {":3", "float32", "1e39"});
}

TEST_CASE("bonds from distances") {
  // Methanol's C and O 1.42 apart, a hydrogen on each, and an argon far away.
  const XyzMolecule molecule = {"", {6, 8, 1, 1, 18}, {0, 0, 0, 1.42F, 0, 0, -1.09F, 0, 0, 1.42F, 0.96F, 0, 9, 9, 9}};
  const CovalentBonds bonds = covalent_bonds(molecule, "m.xyz");
  CHECK(bonds.source == std::vector<int64_t>{0, 1, 0, 2, 1, 3});
  CHECK(bonds.target == std::vector<int64_t>{1, 0, 2, 0, 3, 1});
  REQUIRE(bonds.stretch.size() == 6);
  CHECK(bonds.stretch[0] == Approx(1.0));
  CHECK(bonds.stretch[3] == Approx(1.09 / 1.07));
  const XyzMolecule pair = {"", {6, 6}, {0, 0, 0, 1.81F, 0, 0}}, apart = {"", {6, 6}, {0, 0, 0, 1.83F, 0, 0}};
  CHECK(covalent_bonds(pair, "m.xyz").source.size() == 2);
  CHECK(covalent_bonds(apart, "m.xyz").source.empty());
  require_error([] { covalent_bonds({"", {97}, {0, 0, 0}}, "m.xyz"); }, {"m.xyz", "radius", "97"});
}

TEST_CASE("more atoms or bonds than molecules have are refused before they fill the memory") {
  const std::vector<int64_t> carbon(20000, 6);
  require_error(
      [&] {
        covalent_bonds({"", carbon, std::vector<float>(60000)}, "m.xyz");
      },
      {"m.xyz", "at most 16384 atoms", "20000"});
  const std::vector<int64_t> fewer(2000, 6);
  require_error(
      [&] {
        covalent_bonds({"", fewer, std::vector<float>(6000)}, "m.xyz");
      },
      {"m.xyz", "at most 32 bonds an atom"});
}

}  // namespace geosft::test::test_xyz_molecule
