// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/unlabelled_graphs.h"

#include <numeric>
#include <utility>

#include "data/data_error.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/smiles.h"
#include "data/graphs/tu_dataset.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

// Returns e.g. "categories of nodes (7), values of edges (1)", or "no features".
std::string features_text(const ItemSchema& schema) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!schema.node_vocabulary.empty()) add("categories of nodes (" + listed(schema.node_vocabulary) + ")");
  if (schema.node_values > 0) add("values of nodes (" + std::to_string(schema.node_values) + ")");
  if (!schema.edge_vocabulary.empty()) add("categories of edges (" + listed(schema.edge_vocabulary) + ")");
  if (schema.edge_values > 0) add("values of edges (" + std::to_string(schema.edge_values) + ")");
  if (schema.coordinates) add("coordinates");
  return text.empty() ? "no features" : text;
}

// Reads a TU dataset, mapping its labels to the classes used in training.
UnlabelledGraphs tu_graphs(const fs::path& folder, const ItemSchema& schema, const GraphReadOptions& options) {
  require_graph_indicator(folder);
  if (!is_tu_dataset(folder)) {
    throw DataError(folder.string(), "*_A.txt and *_graph_indicator.txt (a set in TU's form)", "neither");
  }
  check_links(folder);
  if (schema.node_vocabulary == atom_vocabulary && schema.node_labels.empty()) {
    throw DataError(folder.string(),
                    "molecules, as the model was trained on: SMILES in a file *.smi, or in a table *.csv",
                    "a set in TU's form, whose labels of nodes are others");
  }
  const auto unknown = [](const std::vector<int64_t>& vocabulary, const std::vector<int64_t>& labels) {
    return !vocabulary.empty() && labels.empty();
  };
  if (unknown(schema.node_vocabulary, schema.node_labels) || unknown(schema.edge_vocabulary, schema.edge_labels)) {
    throw DataError(folder.string(),
                    "graphs in the form that the model was trained on: it was not TU's, or an earlier version trained "
                    "the model and did not keep the labels",
                    "a set in TU's form");
  }
  const TuLabelNumbers known = {schema.node_labels, schema.edge_labels};
  return {packed_items(read_tu_dataset(folder, &known, options.coalesce, options.directed)), {}, {}};
}

UnlabelledGraphs read_any(const fs::path& source, const ItemSchema& schema, const GraphReadOptions& options) {
  if (!fs::exists(source)) throw DataError(source.string(), "a graph or graphs", "nothing of this name");
  if (fs::is_directory(source)) return tu_graphs(source, schema, options);
  const GraphFileFormat& format = graph_file_format(source);
  // A model of molecules reads every table as one of SMILES, whose column may have another name.
  const bool table = format.kind == GraphFileFormat::smiles || is_csv(source) || !options.smiles_column.empty();
  if (table && schema.node_vocabulary == atom_vocabulary) {
    return molecule_graphs(read_smiles_file(source, options.smiles_column), options);
  }
  return format.read(source, options.directed);
}

UnlabelledGraphs checked(UnlabelledGraphs given, const ItemSchema& schema, const std::string& source) {
  check_same_features(schema, given.packed.schema, source);
  check_graph_features(given.packed, source);
  if (given.names.empty()) given.names.assign(static_cast<size_t>(given.packed.size()), "");
  return given;
}

}  // namespace

void check_same_features(const ItemSchema& schema, const ItemSchema& found, const std::string& source) {
  const std::string expected = features_text(schema), there = features_text(found);
  if (expected != there) throw DataError(source, "graphs as the model was trained on, with " + expected, there);
}

UnlabelledGraphs read_unlabelled_graphs(const fs::path& source, const ItemSchema& schema,
                                        const GraphReadOptions& options) {
  return checked(read_any(source, schema, options), schema, source.string());
}

UnlabelledGraphs unlabelled_molecules(const std::vector<std::string>& smiles, const ItemSchema& schema,
                                      const std::string& source, const GraphReadOptions& options) {
  SmilesFile file{{source, smiles, std::vector<int64_t>(smiles.size())}, std::vector<std::string>(smiles.size())};
  std::iota(file.column.lines.begin(), file.column.lines.end(), 1);
  return checked(molecule_graphs(file, options), schema, source);
}

}  // namespace geosft
