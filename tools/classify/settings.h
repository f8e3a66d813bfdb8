// SPDX-License-Identifier: Apache-2.0
// Everything a classification experiment is configured by: one TOML file, one command-line option a key.
#pragma once

#include <cstdint>
#include <string>

#include "data/point_dataset.h"
#include "models/point_classifier.h"
#include "tools/common/experiment_settings.h"

namespace geosft {

struct CloudSettings {
  int64_t points = 1024;           // of a cloud that the model sees
  bool normals = true;             // whether the model is given them
  int64_t points_per_mesh = 4096;  // sampled once from a mesh; subsets are drawn from these
  double validation_fraction = 0.0;
  bool monitor_test = false;
  int64_t test_every = 5;
  bool allow_missing = false, drop_background = false;
};

struct AugmentSettings {
  double scale_low = 0.6, scale_high = 1.4;
  double jitter = 0.0, stretch = 0.0;
  std::string rotate = "none";
  double drop_tokens = 0.0;
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
  CloudSettings clouds;
  AugmentSettings augment;
  ModelSettings model;
  TrainSettings train;
  EvaluationSettings evaluation;

  // The configuration whose keys are these members; it refers to this object.
  Config config();
  // What no key alone can tell. Throws UsageError naming the keys and their values.
  void check() const;

  PointClassifierOptions classifier(int64_t classes) const;
  TrainingOptions training() const;
  PointDatasetOptions dataset() const;
};

}  // namespace geosft
