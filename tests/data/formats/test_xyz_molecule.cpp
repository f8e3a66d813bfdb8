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

TEST_CASE("several molecules of an XYZ file") {
  const std::vector<XyzMolecule> molecules =
      read_xyz_frames("2\nfirst\nO 0 0 0\nH 1 0 0\n\n1\n\nN 1 2 3\n1\nthird\n6 4 5 6\n\n", "m.xyz");
  REQUIRE(molecules.size() == 3);
  CHECK((molecules[0].line == 1 && molecules[1].line == 6 && molecules[2].line == 9));
  CHECK((molecules[0].comment == "first" && molecules[1].comment.empty() && molecules[2].comment == "third"));
  CHECK(molecules[0].elements == std::vector<int64_t>{8, 1});
  CHECK(molecules[1].positions == std::vector<float>{1, 2, 3});
  CHECK(molecules[2].elements == std::vector<int64_t>{6});
  require_broken("1\n\nC 0 0 0\n1\n\nN 0 0 0\n", {"m.xyz:4", "one molecule", "2"});
}

TEST_CASE("the columns of extended XYZ are those of Properties") {
  const auto read = [](const std::string& properties, const std::string& atom) {
    return read_xyz_molecule("1\nenergy=-1 Properties=" + properties + " pbc=\"F F F\"\n" + atom + "\n", "m.xyz");
  };
  const XyzMolecule usual = read("species:S:1:pos:R:3:forces:R:3", "O 1 2 3 0.1 0.2 0.3");
  CHECK((usual.elements == std::vector<int64_t>{8} && usual.positions == std::vector<float>{1, 2, 3}));
  const XyzMolecule later = read("id:I:1:pos:R:3:charge:R:1:species:S:1", "7 1 2 3 -0.5 N");
  CHECK((later.elements == std::vector<int64_t>{7} && later.positions == std::vector<float>{1, 2, 3}));
  const XyzMolecule numbers = read("\"forces:R:3:Z:I:1:pos:R:3\"", "9 9 9 6 1 2 3");
  CHECK((numbers.elements == std::vector<int64_t>{6} && numbers.positions == std::vector<float>{1, 2, 3}));
  const auto refused = [&](const std::string& properties, const std::string& atom, std::vector<std::string> words) {
    words.emplace_back("m.xyz");
    require_error([&] { read(properties, atom); }, words);
  };
  refused("species:S:1", "O", {":2", "pos:R:3", "\"species:S:1\""});
  refused("pos:R:3", "0 0 0", {":2", "species:S:1"});
  refused("species:S:1:pos:R:2", "O 0 0", {":2", "pos:R:3"});
  refused("species:S:1:pos:R", "O 0 0 0", {":2", "NAME:TYPE:COLUMNS"});
  refused("species:S:-1:pos:R:3", "O 0 0 0", {":2", "NAME:TYPE:COLUMNS"});
  refused("species:S:1:tag:I:99999999999:pos:R:3", "O 0 0 0", {":2", "NAME:TYPE:COLUMNS"});
  refused("species:S:1:tag:I:2:pos:R:3", "O 1", {":3", "6 columns of an atom", "the end of the line"});
  refused("species:S:1:tag:I:2:pos:R:3", "O 1 2 0 0", {":3", "a coordinate"});
}

TEST_CASE("pairs of a comment") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(xyz_comment_pairs("").empty());
  CHECK(xyz_comment_pairs("-417.96").empty());
  CHECK(xyz_comment_pairs("water, relaxed").empty());
  CHECK(xyz_comment_pairs("energy=-417.96 Properties=species:S:1:pos:R:3 pbc=\"F F F\" done") ==
        Pairs{{"energy", "-417.96"}, {"Properties", "species:S:1:pos:R:3"}, {"pbc", "F F F"}});
  CHECK(xyz_comment_pairs(" i =  1, E =  -17.2") == Pairs{{"i", "1"}, {"E", "-17.2"}});
  CHECK(xyz_comment_pairs("\"energy of atoms\"=5 name='a \\'b\\'' last=") ==
        Pairs{{"energy of atoms", "5"}, {"name", "a 'b'"}, {"last", ""}});
  CHECK(xyz_comment_pairs("m=[[1, 0], [0, 1]] v={1 2} x=3") ==
        Pairs{{"m", "[[1, 0], [0, 1]]"}, {"v", "{1 2}"}, {"x", "3"}});
  CHECK(xyz_comment_pairs("=5 a=\"not closed b=1") == Pairs{{"a", "not closed b=1"}});
}

TEST_CASE("broken XYZ files are refused by line") {
  require_broken("", {"number of atoms", "end of the file"});
  require_broken("x\n\n", {":1", "number of atoms", "x"});
  require_broken("0\n\n", {":1", "at least one atom", "0"});
  require_broken("-5\n\n", {":1", "at least one atom"});
  require_broken("2 3\n\n", {":1", "end of the line"});
  require_broken("1000000000000\n\nC 0 0 0\n", {"1000000000000 atoms", "1"});
  require_broken("1\n\nC 0 0 0\nC 1 0 0\n", {":4", "after 1 atoms, or the number of atoms", "\"C\""});
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
