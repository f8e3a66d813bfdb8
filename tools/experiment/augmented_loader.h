// SPDX-License-Identifier: Apache-2.0
// Loads augmented training batches of clouds.
#pragma once

#include <optional>

#include "data/points/point_loader.h"
#include "models/training/distributed/communicator.h"
#include "tools/experiment/cloud_settings.h"
#include "tools/experiment/loader_task.h"

namespace geosft {

// Where training clouds are augmented: in the loader's workers, or in the training step on the model's device. Both
// give the same batches, up to rounding on a GPU.
enum class AugmentedBy { workers, step };
// Returns `step` for a GPU, `workers` for a CPU.
AugmentedBy augmented_by(at::Device device);

// Returns what gives a share of the clouds estimated normals (AugmentSettings::estimated_normals); empty if none is
// asked for, or if all normals of the dataset are estimated ones.
ShapeTransform augmented_normals(const PointDataset& dataset, const CloudSettings& clouds,
                                 const AugmentSettings& augment);

// Loads the augmented batches of a training set onto the model's device.
class AugmentedLoader {
 public:
  // `dataset` must outlive the loader. `options` must not contain transforms.
  AugmentedLoader(const PointDataset& dataset, PointLoaderOptions options, const CloudSettings& clouds,
                  const AugmentSettings& augment, at::Device device, AugmentedBy by);

  // Takes the settings of geosft-classify or geosft-segment; each batch is split over the processes.
  template <class Settings>
  AugmentedLoader(const PointDataset& dataset, const Settings& settings, const Communicator& processes,
                  at::Device device)
      : AugmentedLoader(dataset,
                        {.batch_size = settings.train.batch_size,
                         .share = shard_of(processes),
                         .shuffle = true,
                         .seed = settings.seed,
                         .workers = settings.workers},
                        settings.clouds, settings.augment, device, augmented_by(device)) {}

  int64_t batches_per_epoch() const { return loader_.batches_per_epoch(); }
  void start_epoch(int64_t epoch, int64_t first_batch) { loader_.start_epoch(epoch, first_batch); }
  double seconds_waited() const { return loader_.seconds_waited(); }

  // Returns the next batch of the epoch; its ptr is on the CPU. Throws c10::Error after the last batch.
  const PointBatch& next();
  // Returns the last batch that next() returned.
  const std::optional<PointBatch>& last() const { return last_; }

 private:
  at::Device device_;
  BatchTransform in_step_;  // empty if the workers augment
  PointLoader loader_;
  std::optional<PointBatch> last_;
};

}  // namespace geosft
