// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include "data/data_error.h"
#include "data/dataset_formats.h"
#include "data/formats/text_lines.h"
#include "data/graphs/graph_formats.h"
#include "data/graphs/molecule_table.h"
#include "data/graphs/packed_graphs_file.h"
#include "data/graphs/tu_dataset.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

using GraphReader = PackedItems(const std::filesystem::path&, const GraphReadOptions&);

// Returns the numbers of the labels of a trained model; nothing if it does not know them: it was trained on another
// form, or by an earlier version.
std::optional<TuLabelNumbers> label_numbers(const std::optional<ItemSchema>& known) {
  if (!known || known->node_labels.empty() != known->node_vocabulary.empty() ||
      known->edge_labels.empty() != known->edge_vocabulary.empty()) {
    return std::nullopt;
  }
  TuLabelNumbers numbers{known->node_labels, known->edge_labels, /*labelled=*/true};
  if (known->task != GraphTask::classification) return numbers;
  for (const std::string& name : known->output_names) {
    const std::optional<int64_t> number = parse_integer(name);
    if (!number || (!numbers.graphs.empty() && *number <= numbers.graphs.back())) return std::nullopt;
    numbers.graphs.push_back(*number);
  }
  return numbers;
}

PackedItems read_tu(const std::filesystem::path& folder, const GraphReadOptions& options) {
  const std::optional<TuLabelNumbers> known = label_numbers(options.known);
  PackedItems packed =
      packed_items(read_tu_dataset(folder, known ? &*known : nullptr, options.coalesce, options.directed));
  check_packed_items(packed, folder.string());
  return packed;
}

const std::vector<DatasetFormat<GraphReader>>& graph_formats() {
  static const std::vector<DatasetFormat<GraphReader>> formats = {
      {"Peptides-func, -struct", "peptide_*_dataset.csv", is_peptides, read_peptides},
      {"OGB", "raw/graph-label.csv or raw/node-label.csv", is_ogb_dataset, read_ogb_dataset},
      {"QM7, QM9", "hof_qm7.txt or dsgdb9nsd_*.xyz", is_xyz_molecules, read_xyz_molecules},
      {"TU datasets", "*_A.txt and *_graph_indicator.txt", is_tu_dataset, read_tu},
      {"molecules with coordinates", "*.xyz or *.extxyz", is_xyz_folder, read_xyz_dataset},
  };
  return formats;
}

}  // namespace

std::string graph_formats_text() {
  return formats_text(graph_formats());
}

bool is_graph_dataset(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder) && find_format(graph_formats(), folder) != nullptr;
}

bool has_label_columns(const std::filesystem::path& source, const GraphReadOptions& options) {
  return is_molecule_table(source, options) || is_xyz_file(source) || is_xyz_folder(source) || is_qm9(source);
}

PackedItems open_graph_dataset(const std::filesystem::path& source, const GraphReadOptions& options) {
  if (!std::filesystem::exists(source)) throw DataError(source.string(), "a dataset", "nothing of this name");
  if (!std::filesystem::is_directory(source)) {
    if (is_molecule_table(source, options)) return read_molecule_table(source, options);
    const GraphFileFormat* const format = find_graph_file_format(source);
    if (format != nullptr && format->kind == GraphFileFormat::packed_graphs) return read_packed_graphs(source);
    if (format != nullptr && format->kind == GraphFileFormat::molecule) return read_xyz_dataset(source, options);
    throw DataError(source.string(),
                    "a graph dataset: a folder, such as one in TU's form, packed graphs in HDF5, a CSV table with a "
                    "column of SMILES, or molecules with coordinates, *.xyz",
                    format == nullptr ? "another format" : format->name);
  }
  if (!options.split.empty() && !is_ogb_dataset(source)) {
    throw DataError(source.string(), "several published splits, one of them \"" + options.split + "\"",
                    "a set of another kind than OGB's");
  }
  check_links(source);
  const DatasetFormat<GraphReader>* format = find_format(graph_formats(), source);
  if (format == nullptr) {
    require_graph_indicator(source);
    throw DataError(source.string(), "a folder with " + formats_text(graph_formats()), "none of these");
  }
  return format->read(source, options);
}

}  // namespace geosft
