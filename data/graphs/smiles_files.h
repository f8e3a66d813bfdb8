// SPDX-License-Identifier: Apache-2.0
// Lists of molecules: a SMILES a line, or a table with a column of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/graphs/smiles_graphs.h"

namespace geosft {

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

}  // namespace geosft
