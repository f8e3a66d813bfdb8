// SPDX-License-Identifier: Apache-2.0
// Reads lists of molecules given by SMILES, and turns them into packed graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// SMILES and the lines of `file` that they stand in.
struct SmilesColumn {
  std::string file;
  std::vector<std::string> smiles;
  std::vector<int64_t> lines;
};

struct SmilesFile {
  SmilesColumn column;
  std::vector<std::string> names;  // of the molecules, empty where the file has none
};

// Whether the name of `file` ends in .smi, .smiles or .csv, or in one of these and .gz.
bool is_smiles_file(const std::filesystem::path& file);

// *.smi and *.smiles: a line a molecule, its SMILES, a blank and its name, which may be left out; lines that begin with
// # are passed over. *.csv: a table whose header names one column smiles, in letters of any size; its rows have no
// names. Nothing is said yet of whether the SMILES are valid. Throws DataError, naming file and line: no molecule, no
// such column, rows of another width than the header.
SmilesFile read_smiles_file(const std::filesystem::path& file);

struct SmilesGraphs {
  PackedItems packed;         // atoms and bonds as molecule_features.h has them; no target, no output names
  std::vector<int64_t> rows;  // of the column, that the graphs come from: those with a valid SMILES
};

// Features are computed in parallel. `warnings` counts the invalid SMILES and names each with its line and the reason.
// Throws DataError when no SMILES is valid, std::runtime_error in a build without RDKit.
SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options = {});

}  // namespace geosft
