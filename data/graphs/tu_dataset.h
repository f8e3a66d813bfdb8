// SPDX-License-Identifier: Apache-2.0
// Reads graph datasets in the text format of TU Dortmund (Morris et al., "TUDataset", 2020): MUTAG, ENZYMES, NCI1,
// PROTEINS, …
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "graph/graph_batch.h"

namespace geosft {

// Labels of a file, mapped to classes 0, 1, … in ascending order of the distinct numbers in the file.
struct TuLabels {
  at::Tensor classes;           // int64 [count, columns] (graphs: [count]); undefined if the dataset has no such file
  std::vector<int64_t> values;  // the number of each class in the file

  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

struct TuDataset {
  std::string name;
  GraphBatch graphs;            // all graphs in file order
  TuLabels graph_labels;        // [graphs]
  TuLabels node_labels;         // [nodes, columns]
  TuLabels edge_labels;         // [edges, columns], edges in the order of the CSR
  at::Tensor graph_attributes;  // float32 [graphs, columns], regression targets, or undefined
  at::Tensor node_attributes;   // float32 [nodes, columns]
  at::Tensor edge_attributes;   // float32 [edges, columns], in the order of the CSR
  std::string note = {};        // a sentence on edges that are listed in one direction; empty if none is

  // Returns one-hot labels, column by column, then attributes: float32 [nodes, f]; [nodes, 0] if the dataset has
  // neither.
  at::Tensor node_features() const;
  // Returns the same for edges.
  at::Tensor edge_features() const;
};

// Label numbers of the training dataset (its TuLabels::values), for reading graphs for prediction: labels map to the
// same classes as in training, and graphs need no labels.
struct TuLabelNumbers {
  std::vector<int64_t> nodes, edges;
  bool labelled = false;             // whether graphs have labels or attributes, as without these numbers
  std::vector<int64_t> graphs = {};  // of the classes of graphs; empty: those of the files
};

// Reads NAME_A.txt, NAME_graph_indicator.txt and any NAME_{graph,node,edge}_{labels,attributes}.txt in `folder`, which
// holds one such dataset. Every graph needs a label or an attribute; with `known`, graph labels and attributes are
// read only if it says so. With `coalesce` self-loops are left out, and of edges with the same source and target one
// remains: with the sum of their attributes, as in PyTorch Geometric, and the label of the first (where PyTorch
// Geometric adds one-hot labels). Otherwise edges are kept as listed. Where no edge has its reverse, each is an
// undirected one that is listed once: the reverse is added, with the same label and attributes, unless `directed`;
// `note` says so, or how many edges have no reverse. Throws DataError, naming file and line: wrong counts, non-numeric
// words, nodes or graphs out of range, graphs whose nodes are not contiguous, edges between graphs, labels that are not
// in `known`.
TuDataset read_tu_dataset(const std::filesystem::path& folder, const TuLabelNumbers* known = nullptr,
                          bool coalesce = false, bool directed = false);

// Returns whether `folder` holds files *_A.txt and *_graph_indicator.txt.
bool is_tu_dataset(const std::filesystem::path& folder);

// Throws DataError if `folder` holds a file *_A.txt but no *_graph_indicator.txt of that name.
void require_graph_indicator(const std::filesystem::path& folder);

// Converts labels to categories and attributes to values. The target is the graph label (classification) or, without
// graph labels, the graph attributes (regression).
PackedItems packed_items(const TuDataset& set);

}  // namespace geosft
