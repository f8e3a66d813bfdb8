// SPDX-License-Identifier: Apache-2.0
// Computes fixed-length vectors of molecules with RDKit: 2-D descriptors and count fingerprints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/graphs/graph_vectors.h"

namespace geosft {

// Returns the names of the fingerprints: extended-connectivity fingerprints of diameter 2, 4 and 6 (ecfp; Rogers and
// Hahn, "Extended-Connectivity Fingerprints", 2010), those of pharmacophoric atom types (fcfp), atom pairs, topological
// torsions, and RDKit's paths of 1 to 7 bonds.
const std::vector<std::string>& molecule_fingerprint_names();

// Returns the names of the 2-D descriptors in the order of their columns: RDKit's registered properties, the surface
// areas PEOE_VSA, SMR_VSA and SlogP_VSA, and the molecular quantum numbers. Throws std::runtime_error in a build
// without RDKit.
const std::vector<std::string>& descriptor_names();

// Returns the number of columns of options with parts of molecules alone. Throws std::runtime_error in a build without
// RDKit if `options.descriptors`.
int64_t vector_columns(const GraphVectorOptions& options);

// Returns the vector of a SMILES, with fingerprints of molecules alone: descriptors in RDKit's units, NaN where a
// descriptor is not finite or not defined for the molecule, then log(1 + count) of each fingerprint. Thread-safe.
// Throws as molecule_from_smiles.
std::vector<float> molecule_vector(const std::string& smiles, const GraphVectorOptions& options);

}  // namespace geosft
