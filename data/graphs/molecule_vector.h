// SPDX-License-Identifier: Apache-2.0
// Computes fixed-length vectors of molecules with RDKit: 2-D descriptors and count fingerprints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

// Which parts a vector has: first the descriptors, then fingerprint_bits columns for each fingerprint.
struct MoleculeVectorOptions {
  bool descriptors = false;
  std::vector<std::string> fingerprints = {};  // some of fingerprint_names()
  int64_t fingerprint_bits = 2048;             // columns of each, at least 1

  bool any() const { return descriptors || !fingerprints.empty(); }
  // Returns the number of columns of all fingerprints, which come last.
  int64_t count_columns() const { return static_cast<int64_t>(fingerprints.size()) * fingerprint_bits; }
};

// Returns the names of the fingerprints: extended-connectivity fingerprints of diameter 2, 4 and 6 (ecfp; Rogers and
// Hahn, "Extended-Connectivity Fingerprints", 2010), those of pharmacophoric atom types (fcfp), atom pairs, topological
// torsions, and RDKit's paths of 1 to 7 bonds.
const std::vector<std::string>& fingerprint_names();

// Splits "ecfp4,atom_pair" into names; "none" and an empty text have none. Throws std::invalid_argument, naming the
// word and the known names, for another name and for one that is repeated.
std::vector<std::string> fingerprints_of(const std::string& text);

// Returns the names of the 2-D descriptors in the order of their columns: RDKit's registered properties, the surface
// areas PEOE_VSA, SMR_VSA and SlogP_VSA, and the molecular quantum numbers. Throws std::runtime_error in a build
// without RDKit.
const std::vector<std::string>& descriptor_names();

// Returns the number of columns. Throws std::runtime_error in a build without RDKit if `options.any()`.
int64_t vector_columns(const MoleculeVectorOptions& options);

// Returns the vector of a SMILES: descriptors in RDKit's units, NaN where a descriptor is not finite or not defined for
// the molecule, then log(1 + count) of each fingerprint. Thread-safe. Throws as molecule_from_smiles.
std::vector<float> molecule_vector(const std::string& smiles, const MoleculeVectorOptions& options);

}  // namespace geosft
