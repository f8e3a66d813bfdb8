// SPDX-License-Identifier: Apache-2.0
// SMILES for the tests of data/.
#pragma once

#include <string>
#include <vector>

#include "data/graphs/molecule_features.h"
#include "data/read_file.h"
#include "tests/environment.h"
#include "tests/places.h"

namespace geosft::test {

inline bool has_rdkit() {
  if (!molecule_library().empty()) return true;
  leave_out("a build without RDKit: molecules are not tested");
  return false;
}

// The molecules of the golden case molecule_features, in its order.
inline std::vector<std::string> fixture_smiles() {
  return read_lines(fixture_path("molecule_features.smi"));
}

}  // namespace geosft::test
