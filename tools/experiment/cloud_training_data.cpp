// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_training_data.h"

#include <numeric>
#include <tuple>

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
  choose_rows(clouds, seed);
}

void CloudTrainingData::choose_rows(const CloudSettings& clouds, uint64_t seed) {
  std::vector<int64_t> rows(static_cast<size_t>(training_->size())), validation;
  std::iota(rows.begin(), rows.end(), int64_t{0});
  if (!held_out_ && clouds.validation_fraction > 0) {
    std::tie(rows, validation) = stratified_split(*training_, clouds.validation_fraction, seed);
    if (rows.empty() || validation.empty()) {
      throw UsageError("validation_fraction " + std::to_string(clouds.validation_fraction) + " splits the " +
                       std::to_string(training_->size()) + " training clouds into " + std::to_string(rows.size()) +
                       " and " + std::to_string(validation.size()));
    }
    held_out_ = std::make_unique<PointSubset>(*training_, validation);
  }
  if (clouds.max_per_class > 0) rows = limited_per_class(*training_, rows, clouds.max_per_class, seed);
  if (static_cast<int64_t>(rows.size()) < training_->size()) kept_ = std::make_unique<PointSubset>(*training_, rows);
}

const PointDataset* CloudTrainingData::validation() const {
  if (held_out_) return held_out_.get();
  return monitor_test_ ? test_.get() : nullptr;
}

}  // namespace geosft
