// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <utility>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/csv_rows.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/smiles.h"
#include "data/read_file.h"
#include "data/seeds.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the result for the same files changes.
constexpr const char* peptides_version = "peptides 3";

const std::vector<std::string> peptide_functions = {
    "antifungal", "cell_cell_communication", "anticancer",    "drug_delivery_vehicle", "antimicrobial",
    "antiviral",  "antihypertensive",        "antibacterial", "antiparasitic",         "toxic"};

const std::vector<std::string> peptide_measures = {
    "Inertia_mass_a", "Inertia_mass_b", "Inertia_mass_c", "Inertia_valence_a", "Inertia_valence_b", "Inertia_valence_c",
    "length_a",       "length_b",       "length_c",       "Spherocity",        "Plane_best_fit"};

struct PeptideTable {
  fs::path file;
  bool functional = true;
};

PeptideTable find_peptide_table(const fs::path& folder) {
  const fs::path functional = file_or_gz(folder / "peptide_multi_class_dataset.csv");
  if (fs::exists(functional)) return {functional, true};
  for (const char* name : {"peptide_structure_dataset.csv", "peptide_structure_normalized_dataset.csv"}) {
    if (const fs::path file = file_or_gz(folder / name); fs::exists(file)) return {file, false};
  }
  return {};
}

struct PeptideRows {
  SmilesColumn column;
  std::vector<float> targets;  // [rows, targets]
};

// Parses "[0, 1, …]", one label per function.
void read_peptide_functions(const CsvRows& rows, size_t column, std::vector<float>& out) {
  std::string_view list = rows[column];
  const std::string expected = std::to_string(peptide_functions.size()) + " labels 0 or 1 in brackets";
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') rows.fail_field(expected, column);
  list = list.substr(1, list.size() - 2);
  size_t found = 0;
  for (bool more = true; more; ++found) {
    const size_t comma = list.find(',');
    const std::string_view word = trimmed(list.substr(0, comma));
    if (word != "0" && word != "1") rows.fail_field(expected, column);
    out.push_back(word == "1" ? 1.0F : 0.0F);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  if (found != peptide_functions.size()) rows.fail_field(expected, column);
}

// Returns the indices of the named columns in the header.
std::vector<size_t> find_columns(const CsvRows& header, const std::vector<std::string>& names) {
  std::vector<size_t> places;
  for (const std::string& name : names) {
    size_t place = 0;
    while (place < header.size() && header[place] != name) ++place;
    if (place == header.size()) header.fail("a column \"" + name + "\"", "none of this name");
    places.push_back(place);
  }
  return places;
}

PeptideRows read_peptide_table(const PeptideTable& table, const std::string& text) {
  const std::string file = table.file.string();
  CsvRows rows(text, file);
  if (!rows.next()) throw DataError(file, "a line with the names of the columns", "an empty file");
  const size_t width = rows.size(), smiles = find_columns(rows, {"smiles"})[0];
  const std::vector<size_t> columns =
      find_columns(rows, table.functional ? std::vector<std::string>{"labels"} : peptide_measures);
  PeptideRows out;
  out.column.file = file;
  while (rows.next()) {
    if (rows.size() != width) rows.fail(std::to_string(width) + " columns", std::to_string(rows.size()));
    out.column.smiles.emplace_back(rows[smiles]);
    out.column.lines.push_back(rows.line_number());
    if (table.functional) {
      read_peptide_functions(rows, columns[0], out.targets);
    } else {
      for (const size_t column : columns) out.targets.push_back(static_cast<float>(rows.number(column, "a number")));
    }
  }
  if (out.column.smiles.empty()) throw DataError(file, "a row for every peptide", "none");
  return out;
}

at::Tensor standardized_targets(const at::Tensor& targets) {
  const at::Tensor numbers = targets.to(at::kDouble);
  const at::Tensor deviation = numbers.std(0);
  return ((numbers - numbers.mean(0)) / at::where(deviation > 0, deviation, 1.0)).to(at::kFloat);
}

PackedItems make_peptides(const PeptideTable& table, const std::string& text, const SplitFiles& split,
                          const GraphReadOptions& options) {
  const PeptideRows contents = read_peptide_table(table, text);
  const auto count = static_cast<int64_t>(contents.column.smiles.size());
  const DatasetSplit published = read_split(split, count);
  GraphReadOptions published_tags = options;
  published_tags.chiral_tags = ChiralTags::written;  // those of the benchmark
  SmilesGraphs molecules = graphs_from_smiles(contents.column, published_tags);
  PackedItems& packed = molecules.packed;
  packed.schema.task = table.functional ? GraphTask::multi_label : GraphTask::regression;
  packed.schema.output_names = table.functional ? peptide_functions : peptide_measures;
  at::Tensor targets = at::tensor(contents.targets).view({count, packed.schema.outputs()});
  if (!table.functional) targets = standardized_targets(targets);
  packed.target = targets.index_select(0, at::tensor(molecules.rows, at::kLong));
  packed.split = restricted_split(published, molecules.rows, count);
  check_packed_items(packed, table.file.string());
  return std::move(packed);
}

}  // namespace

bool is_peptides(const fs::path& folder) {
  return !find_peptide_table(folder).file.empty();
}

PackedItems read_peptides(const fs::path& folder, const GraphReadOptions& options) {
  const PeptideTable table = find_peptide_table(folder);
  if (table.file.empty()) {
    throw DataError(folder.string(), "peptide_multi_class_dataset.csv or peptide_structure_dataset.csv, plain or .gz",
                    "neither");
  }
  const SplitFiles split = {folder / "split_train.txt", folder / "split_val.txt", folder / "split_test.txt"};
  std::string bytes = read_file(table.file);
  std::string key = std::string(peptides_version) + "\n" + molecule_library() + "\n" + std::to_string(text_hash(bytes));
  key += "\n" + contents_key({file_or_gz(split.train), file_or_gz(split.validation), file_or_gz(split.test)});
  return cached_graphs(options, "peptides\n" + fs::absolute(table.file).string(), key, [&] {
    return make_peptides(table, gunzipped(std::move(bytes), table.file.string()), split, options);
  });
}

}  // namespace geosft
