// SPDX-License-Identifier: Apache-2.0
// A graph dataset that lies in memory as a few packed tensors.
#pragma once

#include "data/graph_sample.h"
#include "graph/graph_batch.h"

namespace geosft {

// What a reader of whole datasets gives. Nodes and edges of all B graphs one after the other; members as in
// GraphSample.
struct PackedGraphs {
  GraphSchema schema;
  GraphBatch graphs;                        // without edge_attr
  at::Tensor node_categories, node_values;  // [N, columns], undefined where the schema has none
  at::Tensor edge_categories, edge_values;  // [E, columns], the same
  at::Tensor coordinates;                   // float32 [N, 3], the same
  at::Tensor target;                        // int64 [B], float32 [B, targets], or of nodes: int64 [N]
  at::Tensor node_split;                    // int64 [N], or undefined
  std::optional<GraphSplit> split;          // where one is published
  std::vector<std::string> remarks;         // a sentence each
};

// Throws DataError, naming `source` and the member, for shapes, dtypes or values that do not fit the schema or the
// graphs: categories outside their vocabulary, classes that have no name, numbers that are not finite, rows of a split
// that are no graphs or stand in it twice.
void check_packed_graphs(const PackedGraphs& packed, const std::string& source);

class PackedGraphDataset : public GraphDataset {
 public:
  // Checks what it is given.
  PackedGraphDataset(PackedGraphs packed, const std::string& source);

  int64_t size() const override { return packed_.graphs.items(); }
  const GraphSchema& schema() const override { return packed_.schema; }
  GraphSample get(int64_t index) const override;
  std::optional<GraphSplit> official_split() const override { return packed_.split; }
  std::vector<std::string> remarks() const override { return packed_.remarks; }
  const PackedGraphs& packed() const { return packed_; }

 private:
  PackedGraphs packed_;
};

}  // namespace geosft
