// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_vector.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/data/graphs/molecules.h"
#include "tests/support.h"

namespace geosft::test::test_molecule_vector {
namespace {

const std::string aspirin = "CC(=O)Oc1ccccc1C(=O)O";

double descriptor(const std::string& smiles, const std::string& name) {
  const std::vector<std::string>& names = descriptor_names();
  const auto found = std::find(names.begin(), names.end(), name);
  REQUIRE(found != names.end());
  const std::vector<float> values = molecule_vector(smiles, {.descriptors = true});
  REQUIRE(values.size() == names.size());
  return values[static_cast<size_t>(found - names.begin())];
}

// Returns the counts of a fingerprint of 2,048 columns by their column.
std::map<int64_t, int64_t> counts(const std::string& smiles, const std::string& name) {
  const std::vector<float> values = molecule_vector(smiles, {.fingerprints = {name}});
  REQUIRE(values.size() == 2048);
  std::map<int64_t, int64_t> found;
  for (size_t column = 0; column < values.size(); ++column) {
    if (values[column] != 0) found[static_cast<int64_t>(column)] = std::lround(std::expm1(values[column]));
  }
  return found;
}

}  // namespace

TEST_CASE("descriptors of molecules are those of RDKit in Python") {
  if (!has_rdkit()) return;
  REQUIRE(descriptor(aspirin, "exactmw") == Approx(180.042258736));
  REQUIRE(descriptor(aspirin, "tpsa") == Approx(63.6));
  REQUIRE(descriptor(aspirin, "CrippenClogP") == Approx(1.3101));
  REQUIRE(descriptor(aspirin, "CrippenMR") == Approx(44.7103));
  REQUIRE(descriptor(aspirin, "NumHBD") == 1);
  REQUIRE(descriptor(aspirin, "labuteASA") == Approx(74.75705));
  REQUIRE(descriptor(aspirin, "kappa1") == Approx(9.249606));
  REQUIRE(descriptor(aspirin, "SlogP_VSA2") == Approx(17.045138));
  REQUIRE(descriptor(aspirin, "MQN12") == 13);
  REQUIRE(descriptor("C[C@H](N)C(=O)O", "exactmw") == Approx(89.047678464));
  // Partial charges of the metal are not defined.
  const std::vector<float> salt = molecule_vector("[Na+].[Cl-]", {.descriptors = true});
  REQUIRE(std::none_of(salt.begin(), salt.end(), [](float value) { return std::isinf(value); }));
}

TEST_CASE("count fingerprints have the bits and counts of RDKit's generators") {
  if (!has_rdkit()) return;
  REQUIRE(counts("C[C@H](N)C(=O)O", "ecfp2") == std::map<int64_t, int64_t>{{1, 1},
                                                                           {132, 1},
                                                                           {283, 1},
                                                                           {389, 1},
                                                                           {650, 1},
                                                                           {786, 1},
                                                                           {807, 2},
                                                                           {1057, 1},
                                                                           {1171, 1},
                                                                           {1844, 1},
                                                                           {1917, 1}});
  REQUIRE(counts("C[C@H](N)C(=O)O", "torsion") == std::map<int64_t, int64_t>{{941, 1}, {949, 1}, {1820, 1}, {2020, 1}});
  // Number of columns that are not zero, and the sum of the counts, of aspirin.
  const std::map<std::string, std::pair<size_t, int64_t>> expected = {{"ecfp2", {16, 26}},   {"ecfp4", {24, 35}},
                                                                      {"fcfp4", {22, 35}},   {"atom_pair", {50, 78}},
                                                                      {"torsion", {16, 19}}, {"path", {186, 301}}};
  for (const auto& [name, sizes] : expected) {
    INFO(name);
    int64_t total = 0;
    const std::map<int64_t, int64_t> found = counts(aspirin, name);
    for (const auto& [column, count] : found) total += count;
    REQUIRE(found.size() == sizes.first);
    REQUIRE(total == sizes.second);
  }
  REQUIRE(counts(aspirin, "ecfp6").size() > counts(aspirin, "ecfp4").size());
  REQUIRE(counts(aspirin, "fcfp6").size() > counts(aspirin, "fcfp4").size());
}

TEST_CASE("a vector has the descriptors first, then each fingerprint") {
  if (!has_rdkit()) return;
  const GraphVectorOptions options{true, false, {"ecfp4", "atom_pair"}, 64};
  const std::vector<float> all = molecule_vector(aspirin, options);
  const size_t described = descriptor_names().size();
  REQUIRE(vector_columns(options) == static_cast<int64_t>(described) + 128);
  REQUIRE(all.size() == described + 128);
  const std::vector<float> pairs = molecule_vector(aspirin, {.fingerprints = {"atom_pair"}, .fingerprint_bits = 64});
  REQUIRE(std::vector<float>(all.end() - 64, all.end()) == pairs);
  REQUIRE(vector_columns({}) == 0);
  REQUIRE_THROWS_AS(molecule_vector("C(C", options), std::invalid_argument);
}

TEST_CASE("a build without RDKit has no descriptors, one with it has their names") {
  if (molecule_library().empty()) {
    require_error([] { vector_columns({.descriptors = true}); }, {"without RDKit"});
  } else {
    const std::vector<std::string>& names = descriptor_names();
    REQUIRE(names.size() > 100);
    REQUIRE(std::find(names.begin(), names.end(), "PEOE_VSA1") != names.end());
  }
}

}  // namespace geosft::test::test_molecule_vector
