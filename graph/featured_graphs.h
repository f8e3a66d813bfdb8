// SPDX-License-Identifier: Apache-2.0
// Packed graphs with features of nodes and edges: the output of loaders and the input of models.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "graph/graph_batch.h"

namespace geosft {

// Nodes and edges of all B graphs one after the other; missing features are undefined tensors.
struct FeaturedGraphs {
  GraphBatch graphs;           // without edge_attr; models do not see its weights
  at::Tensor node_categories;  // int64 or uint8 [N, columns]
  at::Tensor node_values;      // float32 [N, columns]
  at::Tensor edge_categories;  // int64 or uint8 [E, columns], edges in the order of the CSR
  at::Tensor edge_values;      // float32 [E, columns], the same
  at::Tensor coordinates;      // float32 [N, 3]
  at::Tensor node_encoding;    // float32 [N, columns], computed from the graph (encoded_nodes), not read
  at::Tensor graph_features;   // float32 [B, columns], one row per graph; NaN where a feature is not defined
  at::Tensor document_ptr;     // int64 [2 B + 1], of pairs of documents: document_offsets, if they have been worked out
};

// Returns the packed node rows of the given items, one item after the other, int64.
at::Tensor rows_of_items(const at::Tensor& ptr, const std::vector<int64_t>& items);

// Splits each item into its two documents: ptr int64 [2 B + 1] from ptr [B + 1]. `document` [N] is 0 for the rows of
// the first document of an item, which come first, and 1 for those of the second.
at::Tensor document_offsets(const at::Tensor& ptr, const at::Tensor& document);

// Returns the batch of the given items, in this order; an item may be repeated, and there may be none. Throws
// c10::Error for an item that does not exist.
FeaturedGraphs items_of(const FeaturedGraphs& graphs, const std::vector<int64_t>& items);

// Returns the subgraphs induced by the packed node rows `rows`, int64 [m], distinct, grouped by item. Edges with both
// ends among them remain, with their features. graph_features remain as they are.
FeaturedGraphs induced_subgraph(const FeaturedGraphs& graphs, const at::Tensor& rows);

// The batch with the nodes of each item renumbered at random; order[i] is the old row of new row i.
struct RenumberedGraphs {
  FeaturedGraphs graphs;
  at::Tensor order;  // int64 [N]
};
RenumberedGraphs renumbered(const FeaturedGraphs& graphs, at::Generator generator);

}  // namespace geosft
