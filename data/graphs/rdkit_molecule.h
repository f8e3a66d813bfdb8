// SPDX-License-Identifier: Apache-2.0
// Parses SMILES into RDKit's molecules. Only the source files that CMake compiles with RDKit include this header.
#pragma once

#include <GraphMol/GraphMol.h>

#include <memory>
#include <string>

namespace geosft {

// Returns the sanitised molecule. Thread-safe. Throws std::invalid_argument, with the reason, for an invalid SMILES,
// one without atoms or with more than max_smiles_atoms.
std::unique_ptr<RDKit::ROMol> rdkit_molecule(const std::string& smiles);

}  // namespace geosft
