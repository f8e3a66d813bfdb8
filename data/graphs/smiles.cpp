// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/smiles.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/csv_rows.h"
#include "data/formats/text_lines.h"
#include "data/graphs/molecule_features.h"
#include "data/read_file.h"
#include "geometry/packed.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// The number of rows by which a column of SMILES is recognised.
constexpr size_t rows_to_parse = 10;

// Returns the first line, without its end.
std::string_view first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

std::string column_list(const TextTable& table) {
  std::string text;
  for (const std::string& name : table.names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns the atoms of a SMILES, 0 if it is none.
int64_t parsed_atoms(const std::string& value) {
  if (written_atoms(value) == 0) return 0;
  try {
    return molecule_from_smiles(value, ChiralTags::written).atom_count();
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

void read_list(const std::string& text, SmilesFile& out) {
  TextLines lines(text, out.column.file);
  while (lines.next_raw()) {
    const std::string_view line = lines.rest();  // the whole line: '#' is a bond in SMILES
    if (line.empty() || line.front() == '#') continue;
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    out.column.smiles.emplace_back(line.substr(0, end));
    out.column.lines.push_back(lines.line_number());
    out.names.emplace_back(trimmed(line.substr(end)));
  }
}

void read_table(const std::string& text, const std::string& column, SmilesFile& out) {
  TextTable table = text_table(text, out.column.file);
  const auto place = static_cast<std::ptrdiff_t>(smiles_column(table, column));
  out.column.smiles = std::move(table.columns[static_cast<size_t>(place)]);
  out.column.lines = table.lines;
  out.names.resize(out.column.smiles.size());
  table.names.erase(table.names.begin() + place);
  table.columns.erase(table.columns.begin() + place);
  out.others = std::move(table);
}

struct ParsedSmiles {
  Molecule molecule;
  std::string error;
};

std::vector<ParsedSmiles> parse_all(const SmilesColumn& column, const GraphReadOptions& options) {
  const auto total = static_cast<int64_t>(column.smiles.size());
  std::vector<ParsedSmiles> parsed(column.smiles.size());
  std::mutex mutex;
  int64_t done = 0;
  parallel_items(total, at::get_num_threads(), [&](int64_t i) {
    ParsedSmiles& out = parsed[static_cast<size_t>(i)];
    try {
      out.molecule = molecule_from_smiles(column.smiles[static_cast<size_t>(i)], options.chiral_tags);
    } catch (const std::invalid_argument& error) {
      out.error = error.what();
    }
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(++done, total);
  });
  return parsed;
}

// All molecules concatenated, with edges as global node indices.
struct JoinedMolecules {
  std::vector<int64_t> offsets = {0}, source, target;
  std::vector<uint8_t> atoms, bonds;

  void add(const Molecule& molecule) {
    const int64_t first = offsets.back();
    atoms.insert(atoms.end(), molecule.atoms.begin(), molecule.atoms.end());
    bonds.insert(bonds.end(), molecule.bonds.begin(), molecule.bonds.end());
    for (const int32_t atom : molecule.source) source.push_back(first + atom);
    for (const int32_t atom : molecule.target) target.push_back(first + atom);
    offsets.push_back(first + molecule.atom_count());
  }
};

at::Tensor feature_table(const std::vector<uint8_t>& values, const std::vector<int64_t>& vocabulary) {
  return at::tensor(values, at::kByte).to(at::kLong).view({-1, static_cast<int64_t>(vocabulary.size())});
}

}  // namespace

TableForm table_form(std::string_view text) {
  constexpr std::string_view separators = ",;\t";
  const std::string_view line = first_line(without_byte_order_mark(text));
  constexpr std::string_view named = "sep=";
  if (line.size() == named.size() + 1 && lower_case(line.substr(0, named.size())) == named &&
      separators.find(line.back()) != separators.npos) {
    return {line.back(), true};
  }
  TableForm form;
  std::ptrdiff_t most = 0;
  for (const char separator : separators) {
    std::ptrdiff_t count = 0;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      count += !quoted && c == separator ? 1 : 0;
    }
    if (count > most) form.separator = separator;
    most = std::max(most, count);
  }
  return form;
}

bool begins_smiles_table(std::string_view text) {
  const TableForm form = table_form(text);
  if (form.named) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::string_view line = text.substr(0, text.find('\n'));
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(form.separator, begin), line.size());
    std::string_view field = trimmed(line.substr(begin, end - begin));
    if (field.size() > 1 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    if (lower_case(field) == "smiles") return true;
    begin = end + 1;
  }
  return false;
}

TextTable text_table(std::string_view text, const std::string& file, size_t max_rows) {
  const TableForm form = table_form(text);
  CsvRows rows(text, file, form.separator);
  if (form.named) rows.next();
  if (!rows.next()) throw DataError(file, "a line with the names of the columns", "an empty file");
  TextTable table;
  table.file = file;
  for (size_t column = 0; column < rows.size(); ++column) table.names.emplace_back(rows[column]);
  const size_t width = rows.size();
  table.columns.resize(width);
  while (table.lines.size() < max_rows && rows.next()) {
    if (rows.size() != width) rows.fail(std::to_string(width) + " columns", std::to_string(rows.size()));
    for (size_t column = 0; column < width; ++column) table.columns[column].emplace_back(rows[column]);
    table.lines.push_back(rows.line_number());
  }
  return table;
}

std::optional<size_t> find_column(const TextTable& table, const std::string& name) {
  const auto exact = std::find(table.names.begin(), table.names.end(), name);
  const auto found = exact != table.names.end()
                         ? exact
                         : std::find_if(table.names.begin(), table.names.end(),
                                        [&](const std::string& each) { return lower_case(each) == lower_case(name); });
  if (found == table.names.end()) return std::nullopt;
  return static_cast<size_t>(found - table.names.begin());
}

size_t column_named(const TextTable& table, const std::string& name) {
  if (const std::optional<size_t> found = find_column(table, name)) return *found;
  throw DataError(table.names_place(), "a column \"" + name + "\"", "the columns " + column_list(table));
}

bool holds_smiles(const std::vector<std::string>& values) {
  if (molecule_library().empty()) return false;
  size_t seen = 0, parsed = 0;
  bool several = false;
  for (const std::string& value : values) {
    if (value.empty()) continue;
    const int64_t atoms = parsed_atoms(value);
    parsed += atoms > 0 ? 1 : 0;
    several = several || atoms > 1;
    if (++seen == rows_to_parse) break;
  }
  return several && 2 * parsed > seen;
}

std::optional<size_t> find_smiles_column(const TextTable& table) {
  std::optional<size_t> found;
  for (size_t column = 0; column < table.names.size(); ++column) {
    if (lower_case(table.names[column]) != "smiles") continue;
    if (found) throw DataError(table.names_place(), "one column \"smiles\"", "several");
    found = column;
  }
  if (found) return found;
  for (size_t column = 0; column < table.names.size(); ++column) {
    if (holds_smiles(table.columns[column])) return column;
  }
  return std::nullopt;
}

size_t smiles_column(const TextTable& table, const std::string& name) {
  if (!name.empty()) return column_named(table, name);
  if (const std::optional<size_t> found = find_smiles_column(table)) {
    const std::string& header = table.names[*found];
    if (lower_case(header) == "smiles" || !holds_smiles({header})) return *found;
    throw DataError(table.names_place(), "a header with the names of the columns", "the SMILES \"" + header + "\"");
  }
  throw DataError(table.names_place(), "a column \"smiles\", or one of SMILES, which --smiles-column names",
                  "the columns " + column_list(table));
}

bool is_csv(const fs::path& file) {
  std::string name = lower_case(file.filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

SmilesFile read_smiles_file(const fs::path& file, const std::string& column) {
  SmilesFile out;
  out.column.file = file.string();
  const std::string text = read_gz_file(file);
  const std::string ending = lower_case(file.extension().string());
  const bool named = !column.empty() && ending != ".smi" && ending != ".smiles";
  if (named || is_csv(file) || begins_smiles_table(without_byte_order_mark(text))) {
    read_table(text, column, out);
  } else {
    read_list(text, out);
  }
  if (out.column.smiles.empty()) throw DataError(out.column.file, "a molecule a line", "none");
  return out;
}

std::vector<std::string> invalid_smiles_warnings(const SmilesColumn& column, const std::vector<std::string>& errors) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].empty()) continue;
    constexpr size_t longest = 80;
    const std::string& smiles = column.smiles[i];
    warnings.push_back(column.file + ":" + std::to_string(column.lines[i]) + ": invalid SMILES \"" +
                       smiles.substr(0, longest) + (smiles.size() > longest ? "…" : "") + "\": " + errors[i]);
  }
  if (!warnings.empty()) {
    warnings.insert(
        warnings.begin(),
        column.file + ": " + std::to_string(warnings.size()) + " of " + std::to_string(errors.size()) +
            (warnings.size() == 1 ? " SMILES is invalid and left out" : " SMILES are invalid and left out"));
  }
  return warnings;
}

SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options) {
  const std::vector<ParsedSmiles> parsed = parse_all(column, options);
  SmilesGraphs out;
  JoinedMolecules joined;
  for (size_t i = 0; i < parsed.size(); ++i) {
    out.errors.push_back(parsed[i].error);
    if (!parsed[i].error.empty()) continue;
    out.rows.push_back(static_cast<int64_t>(i));
    out.packed.smiles.push_back(column.smiles[i]);
    if (!column.lines.empty()) out.packed.lines.push_back(column.lines[i]);
    joined.add(parsed[i].molecule);
  }
  PackedItems& packed = out.packed;
  packed.warnings = invalid_smiles_warnings(column, out.errors);
  if (out.rows.empty()) {
    if (parsed.empty()) throw DataError(column.file, "a valid SMILES", "no rows");
    const std::string others = parsed.size() == 1 ? "" : " (all " + std::to_string(parsed.size()) + " are invalid)";
    throw DataError(column.file + ":" + std::to_string(column.lines[0]), "a valid SMILES",
                    "\"" + column.smiles[0] + "\": " + parsed[0].error + others);
  }
  packed.schema.node_vocabulary = atom_vocabulary;
  packed.schema.edge_vocabulary = bond_vocabulary;
  packed.node_categories = feature_table(joined.atoms, atom_vocabulary);
  CsrGraph& graph = packed.graphs.graph;
  graph = graph_from_edges(at::tensor(joined.source, at::kLong), at::tensor(joined.target, at::kLong),
                           joined.offsets.back(), feature_table(joined.bonds, bond_vocabulary));
  packed.edge_categories = std::exchange(graph.edge_attr, at::Tensor());
  packed.graphs.ptr = offsets_tensor(joined.offsets);
  return out;
}

}  // namespace geosft
