// SPDX-License-Identifier: Apache-2.0
// Packed batches of graphs: the nodes of all items one after the other, edges between packed node rows.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "graph/csr_graph.h"

namespace geosft {

// A block-diagonal graph and the items it consists of. Item b has the nodes ptr[b] … ptr[b + 1] - 1; no edge connects
// two items.
struct GraphBatch {
  CsrGraph graph;
  at::Tensor ptr;  // int64 [B + 1]

  int64_t items() const { return ptr.size(0) - 1; }
};

// Throws an error naming the argument if the graph or ptr is invalid, or an edge connects two items.
void check_batch(const GraphBatch& batch);

// Packs graphs. Either all or none have edge features (of one width and dtype); the same holds for weights. Without
// graphs it is a batch of no items, which has neither.
GraphBatch concatenated(const std::vector<CsrGraph>& graphs);

// Returns item `b` as a separate graph.
CsrGraph graph_of_item(const GraphBatch& batch, int64_t b);

// Returns the batch induced by the packed node rows `rows`, int64 [m], distinct, grouped by item (token dropping:
// drop_rows of each item). Items may become empty.
GraphBatch induced_subgraph(const GraphBatch& batch, const at::Tensor& rows);

}  // namespace geosft
