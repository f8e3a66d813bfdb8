// SPDX-License-Identifier: Apache-2.0
// Packed batches of point clouds, prepared by worker threads.
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
  // int64 [N], parts of the points; undefined unless all clouds have them.
  at::Tensor parts = {};
  BatchSlice place = {};  // of these items in the whole batch
  // int64 [B]: the random changes of an item in this epoch are to follow from its seed.
  at::Tensor seeds = {};
};

// Part `part` of `parts` of a batch that is whole: some of its clouds, one after the other (batch_slice). Its
// tensors are views.
PointBatch micro_batch(const PointBatch& batch, int64_t part, int64_t parts);

// What becomes of a shape on its way into a batch; the generator belongs to this item of this epoch alone.
using ShapeTransform = std::function<Shape(Shape, at::Generator&)>;
// What becomes of a packed batch.
using BatchTransform = std::function<PointBatch(PointBatch)>;

struct PointLoaderOptions {
  int64_t batch_size = 32;  // of all shares together
  BatchShard share = {};    // of every batch that this loader prepares
  bool shuffle = false;     // a new order every epoch, from the seed
  bool drop_last = false;   // leave out a last batch that is not full
  uint64_t seed = 0;        // order, transforms and seeds are functions of (seed, epoch, item), whatever the workers do
  int64_t workers = 1;      // threads that prepare batches; 0 prepares them in the caller's thread
  int64_t prefetch = 4;     // batches prepared ahead
  ShapeTransform transform = {};        // may be empty
  BatchTransform batch_transform = {};  // after it; may be empty
};

class PointLoader {
 public:
  // `dataset` must outlive the loader.
  PointLoader(const PointDataset& dataset, PointLoaderOptions options);
  ~PointLoader();
  PointLoader(const PointLoader&) = delete;
  PointLoader& operator=(const PointLoader&) = delete;

  int64_t batches_per_epoch() const;
  // Begins an epoch, at batch `first_batch` when a run is resumed in the middle of one.
  void start_epoch(int64_t epoch, int64_t first_batch = 0);
  // The next batch, or nothing at the end of the epoch. Rethrows what a worker threw (a DataError, say).
  std::optional<PointBatch> next();
  // What calls of next() have taken since start_epoch: the time that the caller waited for batches not ready yet.
  double seconds_waited() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The order of items in an epoch: 0 … count - 1, shuffled by (seed, epoch) when asked.
std::vector<int64_t> epoch_order(int64_t count, bool shuffle, uint64_t seed, int64_t epoch);

}  // namespace geosft
