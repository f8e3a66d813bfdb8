// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_vector.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>

#include "data/graphs/molecule_features.h"

#ifdef GEOSFT_RDKIT
#include <GraphMol/Descriptors/MQN.h>
#include <GraphMol/Descriptors/MolSurf.h>
#include <GraphMol/Descriptors/Property.h>
#include <GraphMol/Fingerprints/AtomPairGenerator.h>
#include <GraphMol/Fingerprints/MorganGenerator.h>
#include <GraphMol/Fingerprints/RDKitFPGenerator.h>
#include <GraphMol/Fingerprints/TopologicalTorsionGenerator.h>

#include "data/graphs/rdkit_molecule.h"
#endif

namespace geosft {
namespace {

#ifdef GEOSFT_RDKIT
using FingerprintGenerator = RDKit::FingerprintGenerator<std::uint64_t>;

// Returns the circular fingerprint of this diameter, of pharmacophoric atom types or of all atoms' own.
template <unsigned kDiameter, bool kByFeature>
FingerprintGenerator* circular(uint32_t bits) {
  RDKit::AtomInvariantsGenerator* atoms =
      kByFeature ? new RDKit::MorganFingerprint::MorganFeatureAtomInvGenerator() : nullptr;
  return RDKit::MorganFingerprint::getMorganGenerator<std::uint64_t>(
      kDiameter / 2, /*countSimulation=*/false, /*includeChirality=*/false, /*useBondTypes=*/true,
      /*onlyNonzeroInvariants=*/false, atoms, nullptr, bits, {1, 2, 4, 8}, /*ownsAtomInvGen=*/kByFeature);
}

FingerprintGenerator* atom_pairs(uint32_t bits) {
  return RDKit::AtomPair::getAtomPairGenerator<std::uint64_t>(1, RDKit::AtomPairs::maxPathLen - 1, false, true, nullptr,
                                                              /*useCountSimulation=*/false, bits);
}

FingerprintGenerator* torsions(uint32_t bits) {
  return RDKit::TopologicalTorsion::getTopologicalTorsionGenerator<std::uint64_t>(
      false, 4, nullptr, /*countSimulation=*/false, {1, 2, 4, 8}, bits);
}

FingerprintGenerator* bond_paths(uint32_t bits) {
  return RDKit::RDKitFP::getRDKitFPGenerator<std::uint64_t>(1, 7, true, true, true, nullptr, /*countSimulation=*/false,
                                                            {1, 2, 4, 8}, bits, /*numBitsPerFeature=*/1);
}
#else
struct FingerprintGenerator;
template <unsigned kDiameter, bool kByFeature>
constexpr std::nullptr_t circular{};
constexpr std::nullptr_t atom_pairs{}, torsions{}, bond_paths{};
#endif

struct Fingerprint {
  const char* name;
  FingerprintGenerator* (*make)(uint32_t bits);  // null without RDKit
};

// The registry of the fingerprints, in the order in which help and messages list them.
constexpr Fingerprint fingerprint_registry[] = {{"ecfp2", circular<2, false>}, {"ecfp4", circular<4, false>},
                                                {"ecfp6", circular<6, false>}, {"fcfp4", circular<4, true>},
                                                {"fcfp6", circular<6, true>},  {"atom_pair", atom_pairs},
                                                {"torsion", torsions},         {"path", bond_paths}};

}  // namespace

const std::vector<std::string>& molecule_fingerprint_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Fingerprint& one : fingerprint_registry) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

#ifdef GEOSFT_RDKIT
namespace {

void add_fingerprint(const RDKit::ROMol& mol, const std::string& name, int64_t bits, std::vector<float>& out) {
  const auto* const found = std::find_if(std::begin(fingerprint_registry), std::end(fingerprint_registry),
                                         [&](const Fingerprint& one) { return one.name == name; });
  TORCH_CHECK(found != std::end(fingerprint_registry), "no fingerprint ", name);
  const std::unique_ptr<FingerprintGenerator> generator(found->make(static_cast<uint32_t>(bits)));
  const std::unique_ptr<RDKit::SparseIntVect<std::uint32_t>> counts(generator->getCountFingerprint(mol));
  const size_t first = out.size();
  out.resize(first + static_cast<size_t>(bits), 0.0F);
  for (const auto& [bit, count] : counts->getNonzeroElements())
    out[first + bit] = std::log1p(static_cast<float>(count));
}

// Returns a value that float32 holds, else NaN.
float finite_or_nan(double value) {
  const bool fits = std::isfinite(value) && std::abs(value) <= std::numeric_limits<float>::max();
  return fits ? static_cast<float>(value) : std::numeric_limits<float>::quiet_NaN();
}

// Calls `add(prefix, values)` for each family of descriptors.
template <class Add>
void for_each_family(const RDKit::ROMol& mol, const Add& add) {
  add("PEOE_VSA", RDKit::Descriptors::calcPEOE_VSA(mol));
  add("SMR_VSA", RDKit::Descriptors::calcSMR_VSA(mol));
  add("SlogP_VSA", RDKit::Descriptors::calcSlogP_VSA(mol));
  const std::vector<unsigned> numbers = RDKit::Descriptors::calcMQNs(mol);
  add("MQN", std::vector<double>(numbers.begin(), numbers.end()));
}

void add_descriptors(const RDKit::ROMol& mol, std::vector<float>& out) {
  static const RDKit::Descriptors::Properties properties;
  for (const double value : properties.computeProperties(mol)) out.push_back(finite_or_nan(value));
  for_each_family(mol, [&](const char*, const std::vector<double>& values) {
    for (const double value : values) out.push_back(finite_or_nan(value));
  });
}

}  // namespace

const std::vector<std::string>& descriptor_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = RDKit::Descriptors::Properties().getPropertyNames();
    for_each_family(*rdkit_molecule("C"), [&](const std::string& prefix, const std::vector<double>& values) {
      for (size_t i = 1; i <= values.size(); ++i) all.push_back(prefix + std::to_string(i));
    });
    return all;
  }();
  return names;
}

std::vector<float> molecule_vector(const std::string& smiles, const GraphVectorOptions& options) {
  const std::unique_ptr<RDKit::ROMol> mol = rdkit_molecule(smiles);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(vector_columns(options)));
  if (options.descriptors) add_descriptors(*mol, out);
  for (const std::string& name : options.fingerprints) add_fingerprint(*mol, name, options.fingerprint_bits, out);
  return out;
}

#else

const std::vector<std::string>& descriptor_names() {
  throw_without_rdkit();
}

std::vector<float> molecule_vector(const std::string&, const GraphVectorOptions&) {
  throw_without_rdkit();
}

#endif

int64_t vector_columns(const GraphVectorOptions& options) {
  const int64_t described = options.descriptors ? static_cast<int64_t>(descriptor_names().size()) : 0;
  return described + options.count_columns();
}

}  // namespace geosft
