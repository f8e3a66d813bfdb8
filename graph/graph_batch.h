// SPDX-License-Identifier: Apache-2.0
// Packed batches of graphs: the nodes of all items one after the other, edges between them by packed node rows.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "graph/csr_graph.h"

namespace geosft {

// One block-diagonal graph and the items that it is made of: item b owns the nodes ptr[b] … ptr[b + 1] - 1, and no edge
// leads from one item to another.
struct GraphBatch {
  CsrGraph graph;
  at::Tensor ptr;  // int64 [B + 1]

  int64_t items() const { return ptr.size(0) - 1; }
};

// Throws an error naming the argument when the graph, ptr, or an edge between items is wrong.
void check_batch(const GraphBatch& batch);

// At least one graph; all with edge features of one width and dtype or all without, and so with weights.
GraphBatch concatenated(const std::vector<CsrGraph>& graphs);

// Item `b` as a graph of its own.
CsrGraph graph_of_item(const GraphBatch& batch, int64_t b);

// The batch among the packed node rows `rows`, int64 [m], distinct, items in turn (drop-token: drop_rows of every
// item). Items may become empty.
GraphBatch induced_subgraph(const GraphBatch& batch, const at::Tensor& rows);

}  // namespace geosft
