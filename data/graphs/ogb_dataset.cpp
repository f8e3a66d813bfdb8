// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/number_table.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/smiles.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the result for the same files changes.
constexpr const char* ogb_version = "ogb 3";

[[noreturn]] void fail_row(const fs::path& file, int64_t line, const std::string& expected, const std::string& found) {
  throw DataError(file.string() + ":" + std::to_string(line), expected, found);
}

bool has_table(const fs::path& folder, const char* name) {
  return fs::exists(file_or_gz(folder / "raw" / name));
}

// Reads one count per graph and returns the cumulative sums.
std::vector<int64_t> read_offsets_of(const fs::path& file, int64_t minimum, const char* what) {
  constexpr int64_t maximum = int64_t{1} << 40;
  const IntegerTable counts = read_integer_table(file, 1, what);
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < counts.rows(); ++i) {
    const int64_t count = counts.values[static_cast<size_t>(i)];
    if (count < minimum || count > maximum - offsets.back()) {
      fail_row(counts.file, counts.lines[static_cast<size_t>(i)],
               std::string(what) + " of at least " + std::to_string(minimum), std::to_string(count));
    }
    offsets.push_back(offsets.back() + count);
  }
  if (counts.rows() == 0) throw DataError(counts.file.string(), "a line for every graph", "none");
  return offsets;
}

void check_rows(const fs::path& file, int64_t found, int64_t expected, const char* what) {
  if (found == expected) return;
  throw DataError(file.string(), std::to_string(expected) + " rows, one for each of the " + what,
                  std::to_string(found));
}

// Limits the number of nodes relative to the edges, because nodes without features also take memory.
void check_plausible_nodes(const fs::path& folder, int64_t nodes, int64_t edges) {
  const int64_t maximum = (int64_t{1} << 20) + 64 * edges;
  if (nodes <= maximum) return;
  throw DataError(
      file_or_gz(folder / "raw/num-node-list.csv").string(),
      "at most " + std::to_string(maximum) + " nodes without features among " + std::to_string(edges) + " edges",
      std::to_string(nodes));
}

struct OgbEdges {
  at::Tensor source, target;  // packed rows
};

OgbEdges read_ogb_edges(const fs::path& folder, const std::vector<int64_t>& nodes, const std::vector<int64_t>& edges) {
  IntegerTable table = read_integer_table(folder / "raw/edge.csv", 2, "the number of a node");
  check_rows(table.file, table.rows(), edges.back(), "edges of num-edge-list");
  for (size_t graph = 0; graph + 1 < nodes.size(); ++graph) {
    const int64_t count = nodes[graph + 1] - nodes[graph];
    for (int64_t edge = edges[graph]; edge < edges[graph + 1]; ++edge) {
      for (const size_t end : {2 * static_cast<size_t>(edge), 2 * static_cast<size_t>(edge) + 1}) {
        int64_t& node = table.values[end];
        if (node < 0 || node >= count) {
          fail_row(table.file, table.lines[static_cast<size_t>(edge)],
                   "a node from 0 to " + std::to_string(count - 1) + " of graph " + std::to_string(graph),
                   std::to_string(node));
        }
        node += nodes[graph];
      }
    }
  }
  const at::Tensor ends = at::tensor(table.values, at::kLong).view({-1, 2});
  return {ends.select(1, 0).contiguous(), ends.select(1, 1).contiguous()};
}

// Returns the standard vocabulary of molecules if the table fits it, so that molecule datasets can share a model.
std::vector<int64_t> vocabulary_of(const NumberTable& table, const std::vector<int64_t>& usual) {
  const std::vector<int64_t> sizes = table.column_sizes();
  const bool fits =
      sizes.size() == usual.size() && std::equal(sizes.begin(), sizes.end(), usual.begin(),
                                                 [](int64_t size, int64_t maximum) { return size <= maximum; });
  return fits ? usual : sizes;
}

// `place`: table row of each edge or node; undefined: the same row.
void take_table(const NumberTable& table, const std::vector<int64_t>& usual, const at::Tensor& place,
                std::vector<int64_t>& vocabulary, at::Tensor& categories, int64_t& columns, at::Tensor& values) {
  const at::Tensor rows = place.defined() ? table.tensor().index_select(0, place) : table.tensor();
  if (table.categories) {
    vocabulary = vocabulary_of(table, usual);
    categories = rows.to(at::kLong);
  } else {
    columns = table.columns;
    values = rows;
  }
}

// Reads the graphs and features of raw/.
PackedItems read_ogb_graphs(const fs::path& folder, const GraphReadOptions& options) {
  PackedItems packed;
  ItemSchema& schema = packed.schema;
  const std::vector<int64_t> nodes = read_offsets_of(folder / "raw/num-node-list.csv", 1, "a number of nodes");
  const std::vector<int64_t> edges = read_offsets_of(folder / "raw/num-edge-list.csv", 0, "a number of edges");
  check_rows(file_or_gz(folder / "raw/num-edge-list.csv"), static_cast<int64_t>(edges.size()) - 1,
             static_cast<int64_t>(nodes.size()) - 1, "graphs of num-node-list");
  if (has_table(folder, "node-feat.csv")) {
    const NumberTable table = read_number_table(folder / "raw/node-feat.csv");
    check_rows(table.file, table.rows(), nodes.back(), "nodes of num-node-list");
    take_table(table, atom_vocabulary, {}, schema.node_vocabulary, packed.node_categories, schema.node_values,
               packed.node_values);
  } else {
    check_plausible_nodes(folder, nodes.back(), edges.back());
  }
  const OgbEdges ends = read_ogb_edges(folder, nodes, edges);
  CsrGraph& graph = packed.graphs.graph;
  graph = graph_from_edges(ends.source, ends.target, nodes.back(), at::arange(edges.back(), at::kLong).unsqueeze(1));
  if (!options.directed) graph = symmetrized(graph);
  packed.graphs.ptr = offsets_tensor(nodes);
  const at::Tensor place = std::exchange(graph.edge_attr, at::Tensor()).squeeze(1);
  if (edges.back() > 0 && has_table(folder, "edge-feat.csv")) {
    const NumberTable table = read_number_table(folder / "raw/edge-feat.csv");
    check_rows(table.file, table.rows(), edges.back(), "edges of num-edge-list");
    take_table(table, bond_vocabulary, place, schema.edge_vocabulary, packed.edge_categories, schema.edge_values,
               packed.edge_values);
  }
  return packed;
}

std::vector<std::string> numbered(const char* prefix, int64_t count) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

void take_graph_labels(const NumberTable& labels, PackedItems& packed) {
  packed.target = labels.tensor();
  const at::Tensor known = packed.target.masked_select(packed.target.isnan().logical_not());
  if (known.eq(0).logical_or(known.eq(1)).all().item<bool>()) {
    packed.schema.task = GraphTask::multi_label;
    packed.schema.output_names = numbered("label ", labels.columns);
  } else if (labels.categories && labels.columns == 1) {
    packed.target = packed.target.squeeze(1).to(at::kLong);
    packed.schema.output_names = numbered("", labels.column_sizes()[0]);
  } else {
    packed.schema.task = GraphTask::regression;
    packed.schema.output_names = numbered("target ", labels.columns);
  }
}

void take_node_classes(const NumberTable& labels, PackedItems& packed) {
  int64_t classes = 0;
  std::vector<int64_t> target;
  for (size_t i = 0; i < labels.values.size(); ++i) {
    const float label = labels.values[i];
    if (!std::isnan(label) && (label < 0 || label != std::floor(label) || label > static_cast<float>(1 << 20))) {
      fail_row(labels.file, labels.lines[i], "a class 0, 1, … or nothing", std::to_string(label));
    }
    target.push_back(std::isnan(label) ? -1 : static_cast<int64_t>(label));
    classes = std::max(classes, target.back() + 1);
  }
  if (classes == 0) throw DataError(labels.file.string(), "a node with a class", "none");
  packed.target = at::tensor(target, at::kLong);
  packed.schema.task = GraphTask::node_classification;
  packed.schema.output_names = numbered("", classes);
}

void take_node_labels(const NumberTable& labels, PackedItems& packed) {
  const auto columns = static_cast<size_t>(labels.columns);
  for (size_t i = 0; i < labels.values.size(); ++i) {
    const float label = labels.values[i];
    if (std::isnan(label) || label == 0 || label == 1) continue;
    fail_row(labels.file, labels.lines[i / columns], "in several columns labels 0, 1 or nothing",
             std::to_string(label));
  }
  packed.target = labels.tensor();
  if (packed.target.isnan().all().item<bool>()) throw DataError(labels.file.string(), "a node with a label", "none");
  packed.schema.task = GraphTask::node_multi_label;
  packed.schema.output_names = numbered("label ", labels.columns);
}

// Lists OGB's other tables, which are not features (e.g. the species of proteins and the year of papers, used for
// splits).
std::vector<std::string> left_out_warnings(const fs::path& folder) {
  std::vector<std::string> warnings;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "raw")) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("node_", 0) != 0 && name.rfind("edge_", 0) != 0) continue;
    warnings.push_back("raw/" + name + " is left out: node-feat and edge-feat alone are features");
  }
  std::sort(warnings.begin(), warnings.end());
  return warnings;
}

DatasetSplit read_ogb_split(const fs::path& folder, const std::string& name, int64_t count) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "split", error)) {
    if (entry.is_directory()) found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  std::string all;
  for (const std::string& each : found) all += (all.empty() ? "" : ", ") + each;
  if (name.empty() && found.size() != 1) {
    throw DataError((folder / "split").string(), "one folder, or the name of one as split_name",
                    found.empty() ? "none" : all);
  }
  const fs::path chosen = folder / "split" / (name.empty() ? found[0] : name);
  if (!fs::is_directory(chosen)) throw DataError(chosen.string(), "a split", found.empty() ? "none" : all);
  return read_split({chosen / "train.csv", chosen / "valid.csv", chosen / "test.csv"}, count);
}

at::Tensor node_split_of(const DatasetSplit& split, int64_t nodes) {
  at::Tensor out = at::full({nodes}, -1, at::kLong);
  int64_t number = 0;
  for (const std::vector<int64_t>* items : {&split.train, &split.validation, &split.test}) {
    out.index_fill_(0, at::tensor(*items, at::kLong), number++);
  }
  return out;
}

// Reads the SMILES of molecules, a row for each graph; returns nothing where mapping/ has no such table.
std::vector<std::string> read_ogb_smiles(const fs::path& folder, int64_t graphs) {
  const fs::path file = file_or_gz(folder / "mapping/mol.csv");
  if (!fs::exists(file)) return {};
  std::vector<std::string> smiles = read_smiles_file(file).column.smiles;
  check_rows(file, static_cast<int64_t>(smiles.size()), graphs, "graphs of num-node-list");
  return smiles;
}

PackedItems make_ogb_dataset(const fs::path& folder, const GraphReadOptions& options) {
  PackedItems packed = read_ogb_graphs(folder, options);
  if (has_table(folder, "graph-label.csv")) {
    const NumberTable labels = read_number_table(folder / "raw/graph-label.csv", true);
    check_rows(labels.file, labels.rows(), packed.size(), "graphs of num-node-list");
    take_graph_labels(labels, packed);
    packed.split = read_ogb_split(folder, options.split, packed.size());
    packed.smiles = read_ogb_smiles(folder, packed.size());
  } else {
    const int64_t nodes = packed.graphs.graph.nodes();
    check_rows(file_or_gz(folder / "raw/num-node-list.csv"), packed.size(), 1, "graphs of a set with labels of nodes");
    const NumberTable labels = read_number_table(folder / "raw/node-label.csv", true);
    check_rows(labels.file, labels.rows(), nodes, "nodes of num-node-list");
    if (labels.columns == 1) {
      take_node_classes(labels, packed);
    } else {
      take_node_labels(labels, packed);
    }
    packed.node_split = node_split_of(read_ogb_split(folder, options.split, nodes), nodes);
  }
  packed.warnings = left_out_warnings(folder);
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace

bool is_ogb_dataset(const fs::path& folder) {
  return has_table(folder, "graph-label.csv") || has_table(folder, "node-label.csv");
}

PackedItems read_ogb_dataset(const fs::path& folder, const GraphReadOptions& options) {
  if (!is_ogb_dataset(folder)) {
    throw DataError((folder / "raw").string(), "graph-label.csv or node-label.csv, plain or .gz", "neither");
  }
  const std::string choice = options.split + (options.directed ? "\ndirected" : "\nundirected");
  const std::string key = std::string(ogb_version) + "\n" + choice + "\n" +
                          contents_key(files_below({folder / "raw", folder / "split", folder / "mapping"}));
  return cached_graphs(options, "ogb\n" + fs::absolute(folder).string() + "\n" + choice, key,
                       [&] { return make_ogb_dataset(folder, options); });
}

}  // namespace geosft
