// SPDX-License-Identifier: Apache-2.0
// Graph datasets in the text form of TU Dortmund (Morris et al., "TUDataset", 2020): MUTAG, ENZYMES, NCI1, PROTEINS, …
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "graph/graph_batch.h"

namespace geosft {

// Labels of a file as classes 0, 1, …: the distinct numbers of the file in ascending order.
struct TuLabels {
  at::Tensor classes;           // int64 [count, columns] (graphs: [count]); undefined where the set has no such file
  std::vector<int64_t> values;  // the number that each class has in the file

  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

struct TuDataset {
  std::string name;
  GraphBatch graphs;            // all graphs in the file's order; duplicate edges and loops as they stand there
  TuLabels graph_labels;        // [graphs]
  TuLabels node_labels;         // [nodes, columns]
  TuLabels edge_labels;         // [edges, columns], edges in the order of the CSR
  at::Tensor graph_attributes;  // float32 [graphs, columns], regression targets; undefined where there are none
  at::Tensor node_attributes;   // float32 [nodes, columns]
  at::Tensor edge_attributes;   // float32 [edges, columns], in the order of the CSR

  // Labels, one-hot column by column, then attributes: float32 [nodes, f]; [nodes, 0] where the set has neither.
  at::Tensor node_features() const;
  // The same of the edges.
  at::Tensor edge_features() const;
};

// How a set is read whose graphs a model is asked about: the numbers of labels keep the classes that they had in the
// set that it was trained on (TuLabels::values of that set), and graphs need no labels of their own.
struct TuLabelNumbers {
  std::vector<int64_t> nodes, edges;
};

// Reads NAME_A.txt, NAME_graph_indicator.txt and what there is of NAME_{graph,node,edge}_{labels,attributes}.txt in
// `folder`, which holds one such set. Every graph needs a label or an attribute; with `known` labels of graphs and
// attributes of graphs are not read. Throws DataError, which names the file and the line: wrong counts, words that are
// no numbers, nodes or graphs out of range, graphs whose nodes are not together, edges between graphs, labels of nodes
// and edges that are not `known`.
TuDataset read_tu_dataset(const std::filesystem::path& folder, const TuLabelNumbers* known = nullptr);

// Whether `folder` holds files *_A.txt and *_graph_indicator.txt.
bool is_tu_dataset(const std::filesystem::path& folder);

// Labels become categories, attributes values; the label of a graph is its class, or, where it has none, its attributes
// are the targets of a regression.
PackedItems packed_items(const TuDataset& set);

}  // namespace geosft
