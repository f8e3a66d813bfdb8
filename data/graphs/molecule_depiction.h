// SPDX-License-Identifier: Apache-2.0
// Lays out a molecule in the plane, as chemists draw it, with RDKit.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace geosft {

// Returns a position for each heavy atom of a SMILES in the order of molecule_from_smiles, double [atoms, 2]; bonds are
// about 1.5 long. Thread-safe. Throws as molecule_from_smiles does.
at::Tensor molecule_depiction(const std::string& smiles);

}  // namespace geosft
