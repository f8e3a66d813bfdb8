// SPDX-License-Identifier: Apache-2.0
// Molecules given by SMILES as packed graphs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/graph_cache.h"
#include "data/packed_graphs.h"

namespace geosft {

// SMILES and the lines of `file` that they stand in.
struct SmilesColumn {
  std::string file;
  std::vector<std::string> smiles;
  std::vector<int64_t> lines;
};

struct SmilesGraphs {
  PackedGraphs packed;        // atoms and bonds as molecule_features.h has them; no target, no output names
  std::vector<int64_t> rows;  // of the column, that the graphs come from: those with a valid SMILES
};

// Features are computed in parallel. `warnings` counts the invalid SMILES and names each with its line and the reason.
// Throws DataError when no SMILES is valid, std::runtime_error in a build without RDKit.
SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options = {});

}  // namespace geosft
