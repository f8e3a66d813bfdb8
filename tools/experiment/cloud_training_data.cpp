// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_training_data.h"

#include "tools/experiment/cloud_transforms.h"

namespace geosft {

CloudTrainingData::CloudTrainingData(std::unique_ptr<PointDataset> training, std::unique_ptr<PointDataset> published,
                                     std::unique_ptr<PointDataset> test, const CloudSettings& clouds, uint64_t seed,
                                     const std::string& data)
    : training_(std::move(training)),
      held_out_(std::move(published)),
      test_(std::move(test)),
      monitor_test_(clouds.monitor_test) {
  if (clouds.normals) {
    require_normals(*training_, data);
    require_normals(*test_, data);
  }
  if (!held_out_ && clouds.validation_fraction > 0) hold_out(clouds.validation_fraction, seed);
}

void CloudTrainingData::hold_out(double fraction, uint64_t seed) {
  const auto [first, second] = stratified_split(*training_, fraction, seed);
  if (first.empty() || second.empty()) {
    throw UsageError("validation_fraction " + std::to_string(fraction) + " splits the " +
                     std::to_string(training_->size()) + " training clouds into " + std::to_string(first.size()) +
                     " and " + std::to_string(second.size()));
  }
  kept_ = std::make_unique<PointSubset>(*training_, first);
  held_out_ = std::make_unique<PointSubset>(*training_, second);
}

const PointDataset* CloudTrainingData::validation() const {
  if (held_out_) return held_out_.get();
  return monitor_test_ ? test_.get() : nullptr;
}

}  // namespace geosft
