// SPDX-License-Identifier: Apache-2.0
// One graph with its features and its target, and what every graph dataset says of itself.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/csr_graph.h"

namespace geosft {

enum class GraphTask { classification, multi_label, regression, node_classification };

// "classification", "multi_label", "regression", "node_classification".
const char* task_name(GraphTask task);

// What all graphs of a dataset have in common: the widths of their features and the meaning of their targets.
struct GraphSchema {
  GraphTask task = GraphTask::classification;
  std::vector<int64_t> node_vocabulary;   // values that each column of node_categories may have: 0 … size - 1
  int64_t node_values = 0;                // columns of node_values
  std::vector<int64_t> edge_vocabulary;   // the same of edge_categories
  int64_t edge_values = 0;                // columns of edge_values
  bool coordinates = false;               // whether nodes have coordinates
  std::vector<std::string> output_names;  // a class, or a target, each: distinct, one line, not empty

  int64_t outputs() const { return static_cast<int64_t>(output_names.size()); }
  bool operator==(const GraphSchema&) const = default;
};

// One graph of n nodes and E edges, on the CPU. Features that the schema does not have are undefined tensors.
struct GraphSample {
  CsrGraph graph;  // both directions of an undirected edge; its edge_attr is undefined, weight may be defined
  at::Tensor node_categories;  // int64 [n, columns]
  at::Tensor node_values;      // float32 [n, columns]
  at::Tensor edge_categories;  // int64 [E, columns], edges in the order of the CSR
  at::Tensor edge_values;      // float32 [E, columns], the same
  at::Tensor coordinates;      // float32 [n, 3], in the dataset's own unit
  // classification       int64 [], the class
  // multi_label          float32 [targets], 1, 0, or NaN where the label is missing
  // regression           float32 [targets], in the dataset's own units, or NaN
  // node_classification  int64 [n], the classes, or -1 for a node without one
  at::Tensor target;
  at::Tensor node_split;  // int64 [n], 0 train, 1 validation, 2 test, where one graph holds all parts; else undefined
};

// Rows of a dataset.
struct GraphSplit {
  std::vector<int64_t> train, validation, test;
};

// Thread-safe: `get` may be called from several threads.
class GraphDataset {
 public:
  virtual ~GraphDataset() = default;
  virtual int64_t size() const = 0;
  virtual const GraphSchema& schema() const = 0;
  // Throws std::out_of_range for an index outside [0, size).
  virtual GraphSample get(int64_t index) const = 0;
  // The published split, where there is one. A dataset of one graph with a node_split has that row in all three parts.
  virtual std::optional<GraphSplit> official_split() const { return std::nullopt; }
  // What the source lists or holds but this dataset leaves out, a sentence each, to be shown to the user.
  virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace geosft
