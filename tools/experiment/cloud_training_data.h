// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "data/points/point_dataset.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

// The clouds that a run trains on and those it validates on.
class CloudTrainingData {
 public:
  // `published` is a validation part that comes with the set, or null: then clouds.validation_fraction of `training` is
  // held out, drawn by the seed. `data` names the set in messages. The test set is opened before the training rather
  // than after it, so that a run does not end in vain. Throws DataError for missing normals, UsageError when one part
  // would be empty.
  CloudTrainingData(std::unique_ptr<PointDataset> training, std::unique_ptr<PointDataset> published,
                    std::unique_ptr<PointDataset> test, const CloudSettings& clouds, uint64_t seed,
                    const std::string& data);

  const PointDataset& train() const { return kept_ ? static_cast<const PointDataset&>(*kept_) : *training_; }
  // What validation runs on: held-out clouds, else the monitored test set, else nothing.
  const PointDataset* validation() const;
  bool held_out() const { return held_out_ != nullptr; }

 private:
  void hold_out(double fraction, uint64_t seed);

  std::unique_ptr<PointDataset> training_, held_out_, test_;
  std::unique_ptr<PointSubset> kept_;  // refers to training_, as held_out_ may
  bool monitor_test_;
};

}  // namespace geosft
