// SPDX-License-Identifier: Apache-2.0
// The configuration of a classification experiment: one TOML file, one command-line option per key.
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
  std::string columns = {};   // of tables of text, see ShapeReadOptions
  bool drop_invalid = false;  // drop points without finite coordinates

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

  // Returns a configuration whose targets are these members; it refers to this object.
  Config config();
  // Checks combinations of keys. Throws UsageError naming the keys and their values.
  void check() const;
  // Lists the keys that are used only with some values of other keys.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` valid in any working directory.
  void locate_data();
  // Copies the settings that do not affect the steps of a run: the location of the data, how often it is evaluated and
  // saved, and the number of epochs, to which a cosine schedule is adapted.
  void take_resumable(const ClassifySettings& other);
  static constexpr const char* kResumable =
      "--data, --workers, --epochs, --validate-every, --checkpoint-every, --on-non-finite, --replay-steps and the keys "
      "of [evaluation]";

  PointClassifierOptions classifier(int64_t classes) const;
  TrainingOptions training() const;
  PointDatasetOptions dataset() const;
};

}  // namespace geosft
