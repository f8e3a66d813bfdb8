// SPDX-License-Identifier: Apache-2.0
// Packed graphs with what belongs to their nodes and edges: what loaders give and models take.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "graph/graph_batch.h"

namespace geosft {

// Nodes and edges of all B graphs one after the other; features that the graphs do not have are undefined tensors.
struct FeaturedGraphs {
  GraphBatch graphs;           // without edge_attr
  at::Tensor node_categories;  // int64 or uint8 [N, columns]
  at::Tensor node_values;      // float32 [N, columns]
  at::Tensor edge_categories;  // int64 or uint8 [E, columns], edges in the order of the CSR
  at::Tensor edge_values;      // float32 [E, columns], the same
  at::Tensor coordinates;      // float32 [N, 3]
  at::Tensor node_encoding;    // float32 [N, columns], computed from the graph (encoded_nodes), not read
  at::Tensor document_ptr;     // int64 [2 B + 1], of pairs of documents: document_offsets, if they have been worked out
};

// The packed node rows of some items, one item after the other, int64.
at::Tensor rows_of_items(const at::Tensor& ptr, const std::vector<int64_t>& items);

// Items of two documents each as items of one: ptr int64 [2 B + 1] of ptr [B + 1], where `document` [N] is 0 for
// the rows of an item's first document, which come first, and 1 for those of its second.
at::Tensor document_offsets(const at::Tensor& ptr, const at::Tensor& document);

// Some items, in that order and as often as they are named, as a batch of their own. At least one item; throws
// c10::Error for one that is not there.
FeaturedGraphs items_of(const FeaturedGraphs& graphs, const std::vector<int64_t>& items);

// The graphs among the packed node rows `rows`, int64 [m], distinct, items in turn; edges whose two ends are among them
// stay, with their features.
FeaturedGraphs induced_subgraph(const FeaturedGraphs& graphs, const at::Tensor& rows);

// Every item with its nodes renumbered at random, and for every new row the row that it was.
struct RenumberedGraphs {
  FeaturedGraphs graphs;
  at::Tensor order;  // int64 [N]
};
RenumberedGraphs renumbered(const FeaturedGraphs& graphs, at::Generator generator);

}  // namespace geosft
