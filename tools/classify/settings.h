// SPDX-License-Identifier: Apache-2.0
// Everything a classification experiment is configured by: one TOML file, one command-line option a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"
#include "models/point_classifier.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

struct ClassifyCloudSettings : CloudSettings {
  int64_t test_every = 5;
  bool allow_missing = false, drop_background = false;

  void add_keys(Config& config);
};

struct ModelSettings : EncoderSettings {
  std::string tokens = "radial";
  int64_t head_bins = 512;
  bool canonical_order = true;
  double head_dropout = 0.0;
};

struct ClassifySettings {
  std::string data = "furniture";
  uint64_t seed = 0;
  int64_t workers = 1;
  ClassifyCloudSettings clouds;
  AugmentSettings augment;
  ModelSettings model;
  TrainSettings train;
  EvaluationSettings evaluation;

  // The configuration whose keys are these members; it refers to this object.
  Config config();
  // What no key alone can tell. Throws UsageError naming the keys and their values.
  void check() const;
  // Which keys the values of others make use of.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` a name that holds in any working folder.
  void locate_data();
  // What the steps of a run do not depend on: where the data lies, how often it is looked at, and the number of epochs,
  // along whose new curve a cosine schedule goes on.
  void take_resumable(const ClassifySettings& other);
  static constexpr const char* kResumable =
      "--data, --workers, --epochs, --validate-every, --checkpoint-every, --on-non-finite, --replay-steps and the keys "
      "of [evaluation]";

  PointClassifierOptions classifier(int64_t classes) const;
  TrainingOptions training() const;
  PointDatasetOptions dataset() const;
};

}  // namespace geosft
