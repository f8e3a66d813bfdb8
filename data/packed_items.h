// SPDX-License-Identifier: Apache-2.0
// Datasets of graphs, and of sequences and images as graphs: their packed form, their features and their targets.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/featured_graphs.h"

namespace geosft {

enum class GraphTask { classification, multi_label, regression, node_classification, node_multi_label };
inline constexpr GraphTask graph_tasks[] = {GraphTask::classification, GraphTask::multi_label, GraphTask::regression,
                                            GraphTask::node_classification, GraphTask::node_multi_label};

// "classification", "multi_label", "regression", "node_classification", "node_multi_label".
const char* task_name(GraphTask task);
// The task of that name; nothing for another one.
std::optional<GraphTask> task_named(const std::string& name);

bool has_classes(GraphTask task);  // one each
bool has_labels(GraphTask task);   // any number each
bool is_of_nodes(GraphTask task);  // targets belong to nodes; else to graphs

// What all graphs of a dataset have in common: the widths of their features and the meaning of their targets.
struct ItemSchema {
  GraphTask task = GraphTask::classification;
  std::vector<int64_t> node_vocabulary;   // values that each column of node_categories may have: 0 … size - 1
  int64_t node_values = 0;                // columns of node_values
  std::vector<int64_t> edge_vocabulary;   // the same of edge_categories
  int64_t edge_values = 0;                // columns of edge_values
  bool coordinates = false;               // whether nodes have coordinates, in the dataset's own unit
  std::vector<std::string> output_names;  // a class, or a target, each: distinct, one line, not empty
  std::string items = "graphs";           // what they are called, in plural
  int64_t grid_height = 0;                // of images, whose nodes are the places of a grid, row by row; 0: no images
  int64_t grid_width = 0;
  bool documents = false;  // an item is two documents: the last of node_categories says of which a node is, 0 then 1
  // Of sets in TU's form: the number that each category of nodes, and of edges, has in the files, ascending.
  std::vector<int64_t> node_labels = {}, edge_labels = {};

  int64_t outputs() const { return static_cast<int64_t>(output_names.size()); }
  bool operator==(const ItemSchema&) const = default;
};

// Items of a dataset.
struct DatasetSplit {
  std::vector<int64_t> train, validation, test;
};

// A dataset of B graphs, N nodes and E edges in all, on the CPU: both directions of an undirected edge stored; of the
// features those that the schema has; node_encoding undefined until it is computed.
struct PackedItems : FeaturedGraphs {
  ItemSchema schema;
  // classification       int64 [B], the classes
  // multi_label          float32 [B, targets], 1, 0, or NaN where a label is missing
  // regression           float32 [B, targets], in the dataset's own units, or NaN
  // node_classification  int64 [N], the classes, or -1 for a node without one
  // node_multi_label     float32 [N, targets], as of multi_label
  at::Tensor target;
  at::Tensor node_split;              // int64 [N], 0 train, 1 validation, 2 test, -1 none: where graphs hold all parts
  std::optional<DatasetSplit> split;  // where one is published
  std::vector<std::string> warnings;  // what the source holds but is left out, a sentence each, to be shown to the user

  int64_t size() const { return graphs.items(); }
};

// Throws DataError, naming `source` and the member, for shapes, dtypes or values that do not fit the schema or the
// graphs: categories outside their vocabulary, classes that have no name, numbers that are not finite, rows of a split
// that are no graphs or stand in it twice. Every reader ends with it.
void check_packed_items(const PackedItems& packed, const std::string& source);

// The same of the graphs and their features alone: there need be no targets and output names.
void check_graph_features(const PackedItems& packed, const std::string& source);

}  // namespace geosft
