// SPDX-License-Identifier: Apache-2.0
// Reads lists of SMILES and converts them to packed graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// SMILES with their line numbers in `file`.
struct SmilesColumn {
  std::string file;
  std::vector<std::string> smiles;
  std::vector<int64_t> lines;
};

struct SmilesFile {
  SmilesColumn column;
  std::vector<std::string> names;  // of the molecules; empty strings if the file has no names
};

// Returns whether the first line of a text, without a byte-order mark, names one column "smiles" (in any letter case),
// as in a CSV table.
bool begins_smiles_table(std::string_view text);

// Reads a CSV table, a file that begins_smiles_table or is named *.csv: its header names one column smiles
// (case-insensitive); its rows have no names. Reads other files as lists: one molecule per line, a SMILES optionally
// followed by a blank and a name; lines that begin with # are skipped. Both may be gzip. The SMILES are not validated.
// Throws DataError, naming file and line: no molecule, no such column, rows whose number of fields differs from the
// header.
SmilesFile read_smiles_file(const std::filesystem::path& file);

struct SmilesGraphs {
  PackedItems packed;         // atoms and bonds as in molecule_features.h; no target, no output names
  std::vector<int64_t> rows;  // rows of the column with a valid SMILES, one per graph
};

// Computes features in parallel. `warnings` counts the invalid SMILES and lists each with its line and the reason.
// Throws DataError if no SMILES is valid, std::runtime_error in a build without RDKit.
SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options = {});

}  // namespace geosft
