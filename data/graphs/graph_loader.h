// SPDX-License-Identifier: Apache-2.0
// Packed batches of a graph dataset.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/batch_shard.h"
#include "data/packed_items.h"
#include "data/wait_clock.h"

namespace geosft {

// Some graphs of a dataset with their targets; target and node_split as in PackedItems.
struct LabelledItems : FeaturedGraphs {
  at::Tensor target, node_split;
  std::vector<int64_t> items;  // rows of the dataset
  BatchSlice place = {};       // of these graphs in the whole batch
};

LabelledItems labelled_items(const PackedItems& dataset, const std::vector<int64_t>& items);

// Without a share in [0, 1) of the nodes of every graph, at random, and without their edges (SFT section 4.3, "drop
// token probability"). What belongs to the nodes, encodings included, stays as it was in the whole graph.
LabelledItems drop_random_nodes(const LabelledItems& graphs, GraphTask task, double share, at::Generator generator);

// Part `part` of `parts` of a batch that is whole: some of its graphs, one after the other (batch_slice).
LabelledItems micro_batch(const LabelledItems& batch, GraphTask task, int64_t part, int64_t parts);

struct GraphLoaderOptions {
  int64_t batch_size = 32;  // of all shares together
  BatchShard share = {};    // of every batch that this loader gives
  bool shuffle = false;     // a new order every epoch, from the seed
  uint64_t seed = 0;        // the order is a function of (seed, epoch), dropped nodes of (seed, epoch, batch)
  double drop_nodes = 0.0;  // share of the nodes that every graph loses
};

class GraphLoader {
 public:
  // Goes over `items` of the dataset, which must outlive the loader.
  GraphLoader(const PackedItems& dataset, std::vector<int64_t> items, GraphLoaderOptions options);

  int64_t batches_per_epoch() const;
  // Begins an epoch, at batch `first_batch` when a run is resumed in the middle of one.
  void start_epoch(int64_t epoch, int64_t first_batch = 0);
  // The next batch, or nothing at the end of the epoch.
  std::optional<LabelledItems> next();
  // What calls of next() have taken since start_epoch.
  double seconds_waited() const { return waited_.seconds(); }

 private:
  std::optional<LabelledItems> prepare();
  at::Generator dropping(int64_t batch, int64_t begin, int64_t first) const;

  const PackedItems& dataset_;
  std::vector<int64_t> items_, order_;
  GraphLoaderOptions options_;
  int64_t epoch_ = 0, next_ = 0;
  WaitClock waited_;
};

}  // namespace geosft
