// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_depiction.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/data/graphs/molecules.h"

namespace geosft::test::test_molecule_depiction {

TEST_CASE("a depiction has a place for each heavy atom, and bonds of equal length") {
  if (!has_rdkit()) return;
  const at::Tensor benzene = molecule_depiction("c1ccccc1");
  REQUIRE(benzene.sizes() == at::IntArrayRef({6, 2}));
  const at::Tensor bonds = (benzene - benzene.roll({1}, {0})).norm(2, {1});
  CHECK((bonds - bonds[0]).abs().max().item<double>() < 1e-3);
  CHECK(bonds[0].item<double>() > 1.0);
  CHECK(molecule_depiction("[H]C([H])O").sizes() == at::IntArrayRef({2, 2}));
  CHECK(at::equal(molecule_depiction("CCO"), molecule_depiction("CCO")));
  CHECK_THROWS_AS(molecule_depiction("C(C"), std::invalid_argument);
}

}  // namespace geosft::test::test_molecule_depiction
