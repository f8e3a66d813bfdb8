// SPDX-License-Identifier: Apache-2.0
// Loads packed batches of a graph dataset. Of pictures, which are in files, the next batch is read on another thread
// while the caller works on one.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "data/batch_shard.h"
#include "data/packed_items.h"
#include "data/sequences/picture_folders.h"
#include "data/wait_clock.h"

namespace geosft {

// Graphs of a dataset with their targets; target and node_split as in PackedItems.
struct LabelledItems : FeaturedGraphs {
  at::Tensor target, node_split;
  std::vector<int64_t> items;  // rows of the dataset
  BatchSlice place = {};       // range of these graphs in the whole batch
};

// Pictures are read from their files: random views of them with `augmentation`.
LabelledItems labelled_items(const PackedItems& dataset, const std::vector<int64_t>& items,
                             const std::optional<PictureAugmentation>& augmentation = std::nullopt);

// Drops a random fraction `share` in [0, 1) of the nodes of each graph, with their edges (SFT section 4.3, "drop token
// probability"). Features of the remaining nodes, encodings included, are those of the whole graph.
LabelledItems drop_random_nodes(const LabelledItems& graphs, GraphTask task, double share, at::Generator generator);

// Returns part `part` of `parts` of a whole batch: a contiguous range of its graphs (batch_slice).
LabelledItems micro_batch(const LabelledItems& batch, GraphTask task, int64_t part, int64_t parts);

struct GraphLoaderOptions {
  int64_t batch_size = 32;  // global, over all shards
  // Above 0, instead of batch_size: a batch takes graphs in order while its nodes are at most so many, at least one
  // graph. The number of batches then differs from epoch to epoch.
  int64_t batch_nodes = 0;
  BatchShard share = {};    // the shard of each batch that this loader returns
  bool shuffle = false;     // a new order every epoch, from the seed
  uint64_t seed = 0;        // the order is a function of (seed, epoch), dropped nodes of (seed, epoch, batch)
  double drop_nodes = 0.0;  // fraction of nodes dropped from each graph
  bool augment = false;     // pictures: random views, a function of (seed, epoch, item)
};

class GraphLoader {
 public:
  // Iterates over `items` of the dataset, which must outlive the loader.
  GraphLoader(const PackedItems& dataset, std::vector<int64_t> items, GraphLoaderOptions options);

  // Counts the batches of the epoch that start_epoch began, or of epoch 0 before.
  int64_t batches_per_epoch() const { return static_cast<int64_t>(begins_.size()) - 1; }
  // Begins an epoch, at batch `first_batch` if a run is resumed mid-epoch.
  void start_epoch(int64_t epoch, int64_t first_batch = 0);
  // Returns the next batch, or nothing at the end of the epoch.
  std::optional<LabelledItems> next();
  // Returns the time spent in next() since start_epoch.
  double seconds_waited() const { return waited_.seconds(); }

 private:
  void set_order(int64_t epoch);
  std::optional<LabelledItems> prepare();
  int64_t nodes_of(int64_t item) const;
  std::vector<int64_t> items_of_batch(int64_t batch, BatchSlice& place) const;
  LabelledItems pictures_of_batch(int64_t batch, const std::vector<int64_t>& items);
  at::Generator dropping(int64_t batch, int64_t begin, int64_t first) const;

  const PackedItems& dataset_;
  std::vector<int64_t> items_, order_;
  std::vector<int64_t> begins_;  // of the batches in order_, then its end
  GraphLoaderOptions options_;
  int64_t epoch_ = 0, next_ = 0;
  bool started_ = false;
  WaitClock waited_;
  int64_t ahead_batch_ = -1;  // the batch that is being read ahead, of pictures; -1: none
  std::future<LabelledItems> ahead_;
};

}  // namespace geosft
