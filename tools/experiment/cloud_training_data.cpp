// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_training_data.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <set>
#include <tuple>

#include "tools/experiment/cloud_checks.h"
#include "tools/experiment/estimated_normals.h"
#include "tools/experiment/shape_folders.h"

namespace geosft {
namespace {

// The share that is held out where the settings leave it open, and the fewest clouds for which it is.
constexpr double automatic_fraction = 0.1;
constexpr int64_t min_automatic = 30;

// Follows the note of a split whose normals are estimated where those of the training clouds are not.
constexpr const char* mixed_normals_advice =
    ". The training clouds have normals of their own, and estimated ones may differ (--estimated-normals 0.5 trains "
    "with both)";

// Owns the dataset that it is a subset of.
class OwningSubset : public PointSubset {
 public:
  OwningSubset(std::unique_ptr<PointDataset> whole, std::vector<int64_t> rows)
      : PointSubset(*whole, std::move(rows)), owned_(std::move(whole)) {}

  std::vector<std::string> warnings() const override { return owned_->warnings(); }

 private:
  std::unique_ptr<PointDataset> owned_;
};

}  // namespace

std::vector<SplitRow> cloud_rows(const std::string& split, const PointDataset& clouds) {
  std::vector<SplitRow> rows;
  for (int64_t i = 0; i < clouds.size(); ++i) {
    const int64_t label = clouds.label(i);
    rows.push_back({split, number_in_data(clouds, i), clouds.name(i),
                    label < 0 ? "" : clouds.class_names().at(static_cast<size_t>(label))});
  }
  return rows;
}

int64_t number_in_data(const PointDataset& clouds, int64_t index) {
  const auto* const subset = dynamic_cast<const PointSubset*>(&clouds);
  return subset ? subset->rows().at(static_cast<size_t>(index)) : index;
}

std::unique_ptr<PointDataset> recorded_clouds(const std::filesystem::path& split_file,
                                              const std::vector<std::string>& splits,
                                              std::unique_ptr<PointDataset> clouds, const std::string& split,
                                              bool unlisted, const std::string& data) {
  if (split_file.empty()) return clouds;
  const std::vector<std::string> split_of_cloud = require_recorded_items(
      split_file, splits, cloud_rows(splits.front(), *clouds), {broken_files(clouds->warnings()).size(), unlisted},
      data, "give the data of the training, or --other-data if none of these were trained on");
  if (split_of_cloud.empty()) {
    if (splits.size() == 1) return clouds;
    if (split == "validation") {
      throw DataError(data, "the list of clouds that the training held out, for --split validation",
                      "no " + split_file.string());
    }
    std::cerr << data << ": all training clouds are taken, since there is no " << split_file.string()
              << " to list those that were held out\n";
    return clouds;
  }
  std::vector<int64_t> rows;
  for (size_t i = 0; i < split_of_cloud.size(); ++i) {
    if (split_of_cloud[i] == split) rows.push_back(static_cast<int64_t>(i));
  }
  if (static_cast<int64_t>(rows.size()) == clouds->size()) return clouds;
  if (rows.empty()) {
    throw DataError(data, "clouds of the " + split + " split",
                    "none in " + split_file.string() + ": the training held none out (--validation 0.1 would)");
  }
  return std::make_unique<OwningSubset>(std::move(clouds), std::move(rows));
}

CloudTrainingData::CloudTrainingData(std::unique_ptr<PointDataset> training, std::unique_ptr<PointDataset> published,
                                     std::unique_ptr<PointDataset> test, const CloudSettings& clouds, uint64_t seed,
                                     const std::string& data, const AugmentSettings& augment)
    : training_(std::move(training)),
      held_out_(std::move(published)),
      test_(std::move(test)),
      monitor_test_(clouds.monitor_test) {
  std::set<std::string> broken;  // once, also where two splits have the same files
  for (const auto* split : {&training_, &held_out_, &test_}) {
    if (!*split) continue;
    for (const std::string& one : broken_files((*split)->warnings())) broken.insert(one);
  }
  broken_ = broken.size();
  if (clouds.normals) {
    const std::string faults = augment.only_estimated_normals() ? "" : sampled_normal_faults(*training_, data);
    for (auto* split : {&training_, &held_out_, &test_}) {
      if (!*split) continue;
      const bool all = augment.only_estimated_normals() || estimates_all_normals(*training_);
      const bool alone = !all && split != &training_ && estimation_note(*training_).empty();
      const std::string named = !alone ? data : data + (split == &test_ ? ", test split" : ", validation split");
      *split = (all ? with_estimated_normals : with_normals)(std::move(*split), named, clouds.normal_orientation);
      if (!note_.empty()) continue;
      note_ = estimation_note(**split);
      if (alone && !note_.empty()) note_ += mixed_normals_advice;
    }
    estimated_ = estimates_all_normals(*training_);
    if (!faults.empty()) {
      note_ += (note_.empty() ? "" : "\n") + faults +
               ". The model learns these; normals of other files, or estimated ones, may then mislead it "
               "(--estimated-normals 1 trains with estimated ones)";
    }
  }
  choose_rows(clouds, seed);
}

void CloudTrainingData::choose_rows(const CloudSettings& clouds, uint64_t seed) {
  std::vector<int64_t> rows(static_cast<size_t>(training_->size())), validation;
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const bool automatic = is_automatic(clouds.validation_fraction);
  if (!held_out_) validation_fraction_ = automatic ? automatic_fraction : clouds.validation_fraction;
  if (validation_fraction_ > 0) {
    std::tie(rows, validation) = stratified_split(*training_, validation_fraction_, seed);
    if (automatic && static_cast<int64_t>(validation.size()) < min_automatic) {
      validation_fraction_ = 0;
      validation.clear();
      rows.resize(static_cast<size_t>(training_->size()));
      std::iota(rows.begin(), rows.end(), int64_t{0});
    }
  }
  if (validation_fraction_ > 0) {
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

std::vector<SplitRow> CloudTrainingData::split_rows() const {
  std::vector<SplitRow> rows = cloud_rows("train", train());
  const auto add = [&](const char* split, const PointDataset& clouds) {
    for (SplitRow& row : cloud_rows(split, clouds)) rows.push_back(std::move(row));
  };
  if (held_out_) add("validation", *held_out_);
  add("test", *test_);
  return rows;
}

int64_t CloudTrainingData::tested_training_clouds() const {
  std::vector<const PointDataset*> training = {&train()};
  if (held_out_) training.push_back(held_out_.get());
  return std::max(tested_training_items(split_rows()), copied_clouds(training, *test_));
}

const PointDataset* CloudTrainingData::validation() const {
  if (held_out_) return held_out_.get();
  return monitor_test_ ? test_.get() : nullptr;
}

}  // namespace geosft
