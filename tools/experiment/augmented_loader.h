// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "data/points/point_loader.h"
#include "models/training/distributed/communicator.h"
#include "tools/experiment/cloud_settings.h"
#include "tools/experiment/shared_batch.h"

namespace geosft {

// Who changes the clouds of a training: the threads that read them, or the step, on the device of the model. Both give
// the same batches, but for rounding where the device is a GPU.
enum class AugmentedBy { workers, step };
// The step where it runs on a GPU, which has the time for it.
AugmentedBy augmented_by(at::Device device);

// The augmented batches of a training set, on the device of the model.
class AugmentedLoader {
 public:
  // `dataset` must outlive the loader. `options` without transforms.
  AugmentedLoader(const PointDataset& dataset, PointLoaderOptions options, const CloudSettings& clouds,
                  const AugmentSettings& augment, at::Device device, AugmentedBy by);

  // With the settings of geosft-classify or geosft-segment; the processes share every batch.
  template <class Settings>
  AugmentedLoader(const PointDataset& dataset, const Settings& settings, const Communicator& processes,
                  at::Device device)
      : AugmentedLoader(dataset,
                        {.batch_size = settings.train.batch_size,
                         .share = share_of(processes),
                         .shuffle = true,
                         .seed = settings.seed,
                         .workers = settings.workers},
                        settings.clouds, settings.augment, device, augmented_by(device)) {}

  int64_t batches_per_epoch() const { return loader_.batches_per_epoch(); }
  void start_epoch(int64_t epoch, int64_t first_batch) { loader_.start_epoch(epoch, first_batch); }
  double seconds_waited() const { return loader_.seconds_waited(); }

  // The next batch of the epoch, whose ptr is on the CPU. Throws an error when there is none.
  const PointBatch& next();
  // What next() returned last.
  const std::optional<PointBatch>& last() const { return last_; }

 private:
  at::Device device_;
  BatchTransform in_step_;  // empty: the workers have done it
  PointLoader loader_;
  std::optional<PointBatch> last_;
};

}  // namespace geosft
