// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_picture.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/data/graphs/molecules.h"

namespace geosft::test::test_molecule_picture {

TEST_CASE("a molecule is drawn as an SVG document of the given size, always the same") {
  if (!has_rdkit()) return;
  const std::string picture = molecule_svg("CC(=O)Oc1ccccc1C(=O)O", 300, 220);
  CHECK_THAT(picture, Catch::StartsWith("<svg ") && Catch::Contains("xmlns='http://www.w3.org/2000/svg'") &&
                          Catch::Contains("width='300px'") && Catch::Contains("height='220px'") &&
                          Catch::Contains("</svg>"));
  // Oxygen is red; a path is a bond or a letter.
  CHECK_THAT(picture, Catch::Contains("#FF0000"));
  CHECK(picture == molecule_svg("CC(=O)Oc1ccccc1C(=O)O", 300, 220));
  CHECK_THAT(molecule_svg("CC", 100, 80), Catch::Contains("width='100px'") && !Catch::Contains("#FF0000"));
}

TEST_CASE("a picture has a bond for each pair of neighbours") {
  if (!has_rdkit()) return;
  const std::string propane = molecule_svg("CCC", 100, 100);
  CHECK_THAT(propane, Catch::Contains("bond-0") && Catch::Contains("bond-1") && !Catch::Contains("bond-2"));
}

TEST_CASE("what is no SMILES has no picture") {
  if (!has_rdkit()) return;
  CHECK_THROWS_AS(molecule_svg("C(C", 100, 100), std::invalid_argument);
  CHECK_THROWS_AS(molecule_svg("", 100, 100), std::invalid_argument);
}

}  // namespace geosft::test::test_molecule_picture
