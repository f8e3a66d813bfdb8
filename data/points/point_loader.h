// SPDX-License-Identifier: Apache-2.0
// Loads packed batches of point clouds, prepared by worker threads.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/batch_shard.h"
#include "data/points/point_dataset.h"

namespace geosft {

struct PointBatch {
  at::Tensor points;   // float32 [N, 3]
  at::Tensor normals;  // float32 [N, 3], or undefined
  at::Tensor ptr;      // int64 [B + 1]
  at::Tensor labels;   // int64 [B]
  at::Tensor index;    // int64 [B], rows of the dataset
  // int64 [N], parts of the points (Shape::parts); undefined unless all clouds have parts.
  at::Tensor parts = {};
  BatchSlice place = {};  // range of these items in the whole batch
  // int64 [B]: seeds for the random augmentation of each item in this epoch.
  at::Tensor seeds = {};
  bool unlabelled = false;  // whether a point of the batch, before any transform of it, has no label
};

// Returns part `part` of `parts` of a whole batch: a contiguous range of its clouds (batch_slice). Its tensors are
// views.
PointBatch micro_batch(const PointBatch& batch, int64_t part, int64_t parts);

// Transforms a shape before batching, e.g. for augmentation; the generator is specific to this item and epoch.
using ShapeTransform = std::function<Shape(Shape, at::Generator&)>;
// Transforms a packed batch.
using BatchTransform = std::function<PointBatch(PointBatch)>;

struct PointLoaderOptions {
  int64_t batch_size = 32;        // global, over all shards
  BatchShard share = {};          // the shard of each batch that this loader prepares
  bool shuffle = false;           // a new order every epoch, from the seed
  bool drop_last = false;         // drop an incomplete last batch
  uint64_t seed = 0;              // order, transforms and seeds depend only on (seed, epoch, item), not on the workers
  int64_t workers = 1;            // threads that prepare batches; 0 prepares them in the caller's thread
  int64_t prefetch = 4;           // batches prepared ahead
  ShapeTransform transform = {};  // may be empty
  BatchTransform batch_transform = {};  // applied after packing; may be empty
};

class PointLoader {
 public:
  // `dataset` must outlive the loader.
  PointLoader(const PointDataset& dataset, PointLoaderOptions options);
  ~PointLoader();
  PointLoader(const PointLoader&) = delete;
  PointLoader& operator=(const PointLoader&) = delete;

  int64_t batches_per_epoch() const;
  // Begins an epoch, at batch `first_batch` if a run is resumed mid-epoch.
  void start_epoch(int64_t epoch, int64_t first_batch = 0);
  // Returns the next batch, or nothing at the end of the epoch. Rethrows exceptions of the workers, e.g. a DataError.
  std::optional<PointBatch> next();
  // Returns the time spent in next() since start_epoch, waiting for batches.
  double seconds_waited() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the order of items in an epoch: 0 … count - 1, shuffled by (seed, epoch) if `shuffle`.
std::vector<int64_t> epoch_order(int64_t count, bool shuffle, uint64_t seed, int64_t epoch);

}  // namespace geosft
