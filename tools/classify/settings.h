// SPDX-License-Identifier: Apache-2.0
// Everything a classification experiment is configured by: one TOML file, one command-line option a key.
#pragma once

#include <cstdint>
#include <string>

#include "data/point_dataset.h"
#include "models/point_classifier.h"
#include "models/training/training_loop.h"
#include "tools/common/config.h"

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

struct ModelSettings {
  std::string tokens = "radial", norm = "post", score = "maxout", probability = "leaky_relu", weighting = "softplus";
  int64_t width = 256, heads = 16, layers = 8, bins = 256, head_bins = 512;
  double tau = 1.0;
  bool hard = false, with_replacement = false, noise = true, canonical_order = true;
  double score_dropout = 0.1, token_dropout = 0.1, feed_forward_dropout = 0.2, head_dropout = 0.0;
};

struct TrainSettings {
  int64_t epochs = 600, batch_size = 32;
  double learning_rate = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_gradient_norm = 1.0;
  std::string schedule = "step";
  int64_t decay_every = 30;
  double decay = 0.8, average_decay = 0.0, label_smoothing = 0.0;
  int64_t validate_every = 10, checkpoint_every = 1;
};

struct EvaluationSettings {
  std::string evaluation = "seeded";
  int64_t votes = 1;
  int64_t evaluation_batch = 32;
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
