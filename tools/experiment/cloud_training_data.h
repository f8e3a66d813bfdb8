// SPDX-License-Identifier: Apache-2.0
// Opens the training, validation and test clouds of a run.
#pragma once

#include <memory>

#include "data/points/point_dataset.h"
#include "tools/experiment/cloud_settings.h"
#include "tools/experiment/split_table.h"

namespace geosft {

// Returns a row for each cloud, with its number in the dataset of which `clouds` is a subset.
std::vector<SplitRow> cloud_rows(const std::string& split, const PointDataset& clouds);

// Returns the number of a cloud in the dataset of which `clouds` is a subset.
int64_t number_in_data(const PointDataset& clouds, int64_t index);

// Returns those of `clouds` that the split.csv of a RUN lists in `split`. Throws DataError naming `data` if the clouds
// are not those that it lists in `splits`, which are numbered together: test clouds of other data may be clouds that
// were trained on. Files that are broken, and so left out, may be missing, and with `unlisted` some clouds are not
// listed, as with max_per_class. Of other data, without a path of the file, all clouds are returned, and of data whose
// file is absent, which is told. Throws DataError also if the file lists none in `split`, and if it is absent for
// "validation".
std::unique_ptr<PointDataset> recorded_clouds(const std::filesystem::path& split_file,
                                              const std::vector<std::string>& splits,
                                              std::unique_ptr<PointDataset> clouds, const std::string& split,
                                              bool unlisted, const std::string& data);

// Holds the training and validation clouds of a run.
class CloudTrainingData {
 public:
  // `published` is a validation split that comes with the dataset, or null: then the fraction
  // clouds.validation_fraction of each class of `training` is held out, sampled with the seed; if it is automatic, a
  // tenth, or nothing where that is fewer than 30 clouds. Of the others, clouds.max_per_class of each class are used.
  // Clouds without normals get estimated ones if the settings want normals; all clouds of all splits do if no training
  // cloud has any, or if `augment` asks for estimated ones alone. `data` names the dataset in messages.
  // The test set is opened before training, so that a missing file ends the run early. Throws UsageError if one split
  // would be empty.
  CloudTrainingData(std::unique_ptr<PointDataset> training, std::unique_ptr<PointDataset> published,
                    std::unique_ptr<PointDataset> test, const CloudSettings& clouds, uint64_t seed,
                    const std::string& data, const AugmentSettings& augment = {});

  const PointDataset& train() const { return kept_ ? static_cast<const PointDataset&>(*kept_) : *training_; }
  // Returns the held-out clouds, else the monitored test set, else null.
  const PointDataset* validation() const;
  bool held_out() const { return held_out_ != nullptr; }
  // Returns the fraction that was held out: that of the settings, unless it is automatic.
  double validation_fraction() const { return validation_fraction_; }
  // Returns the clouds that are used, with their numbers in the training set, or the published validation set, or the
  // test set.
  std::vector<SplitRow> split_rows() const;
  // Returns how many clouds to test with are also ones to train or to validate with: by their names or, if more, by the
  // coordinates of those in memory.
  int64_t tested_training_clouds() const;
  // Returns the number of clouds to test with.
  int64_t test_size() const { return test_->size(); }
  // Returns how many broken files were left out of the training and the test set.
  size_t broken() const { return broken_; }
  // Returns lines for the user: that normals are estimated, or that those of most clouds have a fault; without a line
  // break at the end, empty if there is none.
  const std::string& note() const { return note_; }
  // Returns whether those of all training clouds are.
  bool has_estimated_normals() const { return estimated_; }

 private:
  // Chooses the rows of `training_` that are used, and holds some out.
  void choose_rows(const CloudSettings& clouds, uint64_t seed);

  std::unique_ptr<PointDataset> training_, held_out_, test_;
  std::unique_ptr<PointSubset> kept_;  // refers to training_, as held_out_ may do
  bool monitor_test_;
  double validation_fraction_ = 0.0;
  size_t broken_ = 0;
  bool estimated_ = false;
  std::string note_;
};

}  // namespace geosft
