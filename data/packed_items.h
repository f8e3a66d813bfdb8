// SPDX-License-Identifier: Apache-2.0
// Defines the packed form, features and targets of datasets of graphs, and of sequences and images stored as graphs.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/featured_graphs.h"

namespace geosft {

enum class GraphTask { classification, multi_label, regression, node_classification, node_multi_label };
inline constexpr GraphTask graph_tasks[] = {GraphTask::classification, GraphTask::multi_label, GraphTask::regression,
                                            GraphTask::node_classification, GraphTask::node_multi_label};

// Returns the name of a task, e.g. "multi_label".
const char* task_name(GraphTask task);
// Returns the task of that name, or nothing if there is no such task.
std::optional<GraphTask> task_named(const std::string& name);

bool has_classes(GraphTask task);  // one class per item
bool has_labels(GraphTask task);   // any number of labels per item
bool is_of_nodes(GraphTask task);  // targets belong to nodes, otherwise to graphs

// Properties shared by all graphs of a dataset: the widths of their features and the meaning of their targets.
struct ItemSchema {
  GraphTask task = GraphTask::classification;
  std::vector<int64_t> node_vocabulary;   // number of values of each column of node_categories: 0 … size - 1
  int64_t node_values = 0;                // columns of node_values
  std::vector<int64_t> edge_vocabulary;   // the same for edge_categories
  int64_t edge_values = 0;                // columns of edge_values
  bool coordinates = false;               // whether nodes have coordinates, in the unit of the dataset
  std::vector<std::string> output_names;  // classes or targets: distinct, one line, not empty
  std::string items = "graphs";           // plural noun for the items in messages
  int64_t grid_height = 0;                // for images, whose nodes are pixels in row-major order; 0: no images
  int64_t grid_width = 0;
  bool documents = false;  // an item is two documents; the last column of node_categories says which, 0 then 1
  // For TU datasets: the number of each node and edge category in the files, ascending.
  std::vector<int64_t> node_labels = {}, edge_labels = {};
  int64_t graph_features = 0;  // first columns of graph_features, which models see: they are computed, not read
  // For tables of molecules: the numbers that stand for 0 and 1 of each label, two per output; empty if all are 0
  // and 1.
  std::vector<float> label_values = {};

  int64_t outputs() const { return static_cast<int64_t>(output_names.size()); }
  bool operator==(const ItemSchema&) const = default;
};

// Item indices of each split.
struct DatasetSplit {
  std::vector<int64_t> train, validation, test;
};

struct PictureFiles;  // data/sequences/picture_folders.h

// A dataset of B graphs with N nodes and E edges in total, on the CPU. Both directions of an undirected edge are
// stored. Only the features in the schema are defined; node_encoding is undefined until it is computed.
struct PackedItems : FeaturedGraphs {
  ItemSchema schema;
  // classification       int64 [B], the classes
  // multi_label          float32 [B, targets], 1, 0, or NaN for a missing label
  // regression           float32 [B, targets], in the units of the dataset, or NaN if missing
  // node_classification  int64 [N], the classes, or -1 for an unlabelled node
  // node_multi_label     float32 [N, targets], as for multi_label
  at::Tensor target;
  at::Tensor node_split;              // int64 [N], 0 train, 1 validation, 2 test, -1 none; for splits of nodes
  std::optional<DatasetSplit> split;  // if one is published
  std::vector<std::string> smiles;    // of each graph, for molecules that were read from or published with SMILES
  std::vector<int64_t> lines;         // of each SMILES in its file, counted from 1; empty if unknown
  std::vector<std::string> names;     // of each graph: its file, or "FILE:NUMBER" from 0; empty if unknown
  // Of pictures in files: each item then has one node without features, and a loader replaces it by the patches of its
  // picture (labelled_items), for which the schema is. Null for data in memory.
  std::shared_ptr<const PictureFiles> pictures;
  std::vector<std::string> warnings;  // what was read or left out, one sentence each, to be shown to the user

  int64_t size() const { return graphs.items(); }
};

// Throws DataError, naming `source` and the member, for shapes, dtypes or values that do not fit the schema or the
// graphs: categories outside their vocabulary, classes without a name, non-finite numbers, split rows that are out of
// range or duplicated. Every reader calls it last.
void check_packed_items(const PackedItems& packed, const std::string& source);

// Checks only the graphs and their features; targets and output names may be absent.
void check_graph_features(const PackedItems& packed, const std::string& source);

}  // namespace geosft
