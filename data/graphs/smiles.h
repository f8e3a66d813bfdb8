// SPDX-License-Identifier: Apache-2.0
// Reads lists of SMILES and converts them to packed graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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

// How the columns of a table are separated: by the one of comma, semicolon and tab that its header has most of, or that
// a line "sep=;" before it names, as Excel takes it.
struct TableForm {
  char separator = ',';
  bool named = false;  // by such a line
};
TableForm table_form(std::string_view text);

// Returns whether the header of a text, without a byte-order mark, names one column "smiles" (in any letter case), as
// in a CSV table.
bool begins_smiles_table(std::string_view text);

// Columns of texts with names: of a table with a header, whose columns are separated as table_form says, or others.
struct TextTable {
  std::string file;
  std::vector<std::string> names;                 // of the columns
  std::vector<std::vector<std::string>> columns;  // [columns][rows]
  std::vector<int64_t> lines;                     // line number of each row
  int64_t names_line = 1;                         // line number of the names, where `file` is no folder
  std::vector<std::string> files = {};            // of each row, where `file` is one

  // Return "FILE:LINE" of a row and of the names, for messages; of names in several files the folder.
  std::string place(size_t row) const { return (files.empty() ? file : files[row]) + ":" + std::to_string(lines[row]); }
  std::string names_place() const { return files.empty() ? file + ":" + std::to_string(names_line) : file; }
};

struct SmilesFile {
  SmilesColumn column;
  std::vector<std::string> names;  // of the molecules; empty strings if the file has no names
  TextTable others = {};           // the other columns of a CSV table, which have the same rows
};

// Parses at most `max_rows` rows. Throws DataError, naming `file` and line, for text without a header and for rows
// whose number of fields differs from the header.
TextTable text_table(std::string_view text, const std::string& file, size_t max_rows = SIZE_MAX);

// Return the index of the column of this name, in any letter case if there is no exact one. Without one, the first
// returns nothing and the second throws DataError, listing the columns.
std::optional<size_t> find_column(const TextTable& table, const std::string& name);
size_t column_named(const TextTable& table, const std::string& name);

// Returns the column of SMILES: the one named "smiles" in any letter case, else the first one of whose first ten
// values RDKit parses most. Returns nothing if there is none. Throws DataError if several have the name.
std::optional<size_t> find_smiles_column(const TextTable& table);

// Returns whether RDKit parses most of the first ten values that are not empty, and one of them has several atoms.
// False without RDKit.
bool holds_smiles(const std::vector<std::string>& values);

// Returns the same with an error instead of nothing, or the column `name` if that is not empty.
size_t smiles_column(const TextTable& table, const std::string& name);

// Returns whether the name ends in .csv or .tsv, with or without .gz, in any letter case.
bool is_csv(const std::filesystem::path& file);

// Reads a CSV table, a file that begins_smiles_table or is named *.csv, or any if `column` names its column of SMILES,
// which smiles_column otherwise finds; its rows have no names. Reads other files as lists: one molecule per line, a
// SMILES optionally followed by a blank and a name; lines that begin with # are skipped. Both may be gzip. The SMILES
// are not validated. Throws DataError, naming file and line: no molecule, no such column, rows whose number of fields
// differs from the header.
SmilesFile read_smiles_file(const std::filesystem::path& file, const std::string& column = "");

struct SmilesGraphs {
  PackedItems packed;  // atoms, bonds, SMILES and their lines, as in molecule_features.h; no target, no output names
  std::vector<int64_t> rows;             // rows of the column with a valid SMILES, one per graph
  std::vector<std::string> errors = {};  // of each row of the column; empty if its SMILES is valid
};

// Counts the rows of a column whose errors are not empty, and lists each with its line and the reason.
std::vector<std::string> invalid_smiles_warnings(const SmilesColumn& column, const std::vector<std::string>& errors);

// Computes features in parallel. `warnings` counts the invalid SMILES and lists each with its line and the reason.
// Throws DataError if no SMILES is valid, std::runtime_error in a build without RDKit.
SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options = {});

}  // namespace geosft
