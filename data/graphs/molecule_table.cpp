// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/smiles.h"
#include "data/graphs/table_labels.h"
#include "data/read_file.h"
#include "data/seeds.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the result for the same files changes.
constexpr const char* molecule_table_version = "molecule table 9";

// Returns the first two of the rows of one SMILES that have different known labels in a column; nothing if there are
// none.
std::optional<std::pair<int64_t, int64_t>> differing_rows(const at::Tensor& target, const std::vector<int64_t>& rows) {
  const at::Tensor labels =
      target.index_select(0, at::tensor(rows, at::kLong)).to(at::kDouble).view({std::ssize(rows), -1});
  const auto label = labels.accessor<double, 2>();
  std::optional<std::pair<int64_t, int64_t>> first;
  for (int64_t column = 0; column < labels.size(1); ++column) {
    std::optional<int64_t> known;
    for (int64_t row = 0; row < labels.size(0); ++row) {
      if (std::isnan(label[row][column])) continue;
      if (!known) known = row;
      if (label[row][column] == label[*known][column]) continue;
      const std::pair found{rows[static_cast<size_t>(*known)], rows[static_cast<size_t>(row)]};
      first = first ? std::min(*first, found) : found;
      break;
    }
  }
  return first;
}

// Returns a warning about SMILES that several rows have; empty if there is none.
std::string repeated_smiles_text(const PackedItems& packed) {
  std::map<std::string_view, std::vector<int64_t>> rows;
  for (size_t i = 0; i < packed.smiles.size(); ++i) rows[packed.smiles[i]].push_back(static_cast<int64_t>(i));
  int64_t repeated = 0;
  std::optional<std::pair<int64_t, int64_t>> same;     // the first rows of one SMILES
  std::vector<std::pair<int64_t, int64_t>> differing;  // rows of each SMILES with different labels
  for (const auto& [smiles, of_smiles] : rows) {
    if (of_smiles.size() < 2) continue;
    ++repeated;
    const std::pair first{of_smiles[0], of_smiles[1]};
    same = same ? std::min(*same, first) : first;
    if (const auto found = differing_rows(packed.target, of_smiles)) differing.push_back(*found);
  }
  if (repeated == 0) return "";
  const auto lines = [&](std::pair<int64_t, int64_t> pair) {
    const auto line = [&](int64_t row) { return std::to_string(packed.lines[static_cast<size_t>(row)]); };
    return " (for example lines " + line(pair.first) + " and " + line(pair.second) + ")";
  };
  std::string text =
      std::to_string(repeated) + " SMILES " + (repeated == 1 ? "occurs" : "occur") + " in more than one row, ";
  if (differing.empty()) return text + "always with the same labels" + lines(*same);
  if (repeated > 1) text += std::to_string(differing.size()) + " of them ";
  return text + "with different labels" + lines(*std::min_element(differing.begin(), differing.end()));
}

PackedItems make_molecules(const TextTable& table, const GraphReadOptions& options) {
  const size_t smiles = smiles_column(table, options.smiles_column);
  const TableLabels labels = table_labels(table, smiles, options);
  SmilesColumn column{table.file, {}, {}};
  for (const int64_t row : labels.rows) {
    column.smiles.push_back(table.columns[smiles][static_cast<size_t>(row)]);
    column.lines.push_back(table.lines[static_cast<size_t>(row)]);
  }
  SmilesGraphs molecules = graphs_from_smiles(column, options);
  PackedItems& packed = molecules.packed;
  packed.schema.task = labels.task;
  packed.schema.output_names = labels.names;
  packed.schema.label_values = labels.values;
  packed.target = labels.target.index_select(0, at::tensor(molecules.rows, at::kLong));
  packed.warnings.insert(packed.warnings.begin(),
                         table.file + ": SMILES in column \"" + table.names[smiles] + "\"; " + labels.note);
  if (const std::string text = repeated_smiles_text(packed); !text.empty()) {
    packed.warnings.push_back(table.file + ": " + text);
  }
  std::vector<int64_t> kept;
  for (const int64_t row : molecules.rows) kept.push_back(labels.rows[static_cast<size_t>(row)]);
  packed.split = table_split(table, kept, options.split_folder, packed.warnings);
  check_packed_items(packed, table.file);
  return std::move(packed);
}

// Returns the first lines of a file, without one that is cut off.
std::string first_lines(const fs::path& file) {
  constexpr size_t enough = size_t{1} << 16;
  std::string head = gz_file_head(file, enough);
  if (head.size() == enough) head.resize(head.rfind('\n') + 1);
  return head;
}

}  // namespace

bool is_molecule_table(const fs::path& file, const GraphReadOptions& options) {
  if (!fs::is_regular_file(file)) return false;
  if (!options.smiles_column.empty()) return true;
  if (!is_csv(file)) return false;
  const std::string head = first_lines(file);
  if (begins_smiles_table(without_byte_order_mark(head))) return true;
  try {
    constexpr size_t rows = 10;
    return find_smiles_column(text_table(head, file.string(), rows)).has_value();
  } catch (const DataError&) {
    return false;  // reported by the reader of another format
  }
}

PackedItems read_molecule_table(const fs::path& file, const GraphReadOptions& options) {
  std::string bytes = read_file(file);
  std::string choice = options.smiles_column;
  if (options.chiral_tags == ChiralTags::canonical) choice.insert(0, "canonical chiral tags\n\n");
  const std::string key =
      std::string(molecule_table_version) + "\n" + molecule_library() + "\n" + std::to_string(text_hash(bytes));
  return cached_with_labels(options, "molecules\n" + fs::absolute(file).string() + "\n" + choice, key, [&] {
    return make_molecules(text_table(gunzipped(std::move(bytes), file.string()), file.string()), options);
  });
}

}  // namespace geosft
