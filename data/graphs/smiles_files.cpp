// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/smiles_files.h"

#include <algorithm>
#include <cctype>

#include "data/formats/csv_rows.h"
#include "data/formats/gz_file.h"
#include "data/formats/text_lines.h"
#include "data/points/shape.h"
#include "data/read_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// The ending of a name, without the .gz behind it.
std::string inner_extension(const fs::path& file) {
  return (file.extension() == ".gz" ? file.stem() : file).extension().string();
}

void read_lines(const std::string& text, SmilesFile& out) {
  TextLines lines(text, out.column.file);
  while (lines.next_raw()) {
    const std::string_view line = lines.rest();  // '#' is a bond of SMILES
    if (line.empty() || line.front() == '#') continue;
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    out.column.smiles.emplace_back(line.substr(0, end));
    out.column.lines.push_back(lines.line_number());
    out.names.emplace_back(trimmed(line.substr(end)));
  }
}

size_t smiles_column(const CsvRows& header) {
  size_t found = header.size();
  for (size_t column = 0; column < header.size(); ++column) {
    std::string name(header[column]);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name != "smiles") continue;
    if (found < header.size()) header.fail("one column \"smiles\"", "several");
    found = column;
  }
  if (found == header.size()) header.fail("a column \"smiles\"", "none of this name");
  return found;
}

void read_table(const std::string& text, SmilesFile& out) {
  CsvRows rows(text, out.column.file);
  if (!rows.next()) throw DataError(out.column.file, "a line with the names of the columns", "an empty file");
  const size_t width = rows.size(), column = smiles_column(rows);
  while (rows.next()) {
    if (rows.size() != width) rows.fail(std::to_string(width) + " columns", std::to_string(rows.size()));
    out.column.smiles.emplace_back(rows[column]);
    out.column.lines.push_back(rows.line_number());
    out.names.emplace_back();
  }
}

}  // namespace

bool is_smiles_file(const fs::path& file) {
  const std::string ending = inner_extension(file);
  return ending == ".smi" || ending == ".smiles" || ending == ".csv";
}

SmilesFile read_smiles_file(const fs::path& file) {
  SmilesFile out;
  out.column.file = file.string();
  const std::string text = read_gz_file(file);
  if (inner_extension(file) == ".csv") {
    read_table(text, out);
  } else {
    read_lines(text, out);
  }
  if (out.column.smiles.empty()) throw DataError(out.column.file, "a molecule a line", "none");
  return out;
}

}  // namespace geosft
