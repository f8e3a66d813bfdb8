// SPDX-License-Identifier: Apache-2.0
// The configuration of a segmentation experiment: one TOML file, one command-line option per key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/point_segmenter.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

struct SegmentCloudSettings : CloudSettings {
  int64_t block = 0;                  // points per forward pass in evaluation; 0: the whole cloud
  bool published_validation = false;  // select the checkpoint with it, instead of training on it

  void add_keys(Config& config);
};

struct SegmentModelSettings : EncoderSettings {
  std::string tokens = "radial";
  bool category = true;  // give the class of a shape to the model
  bool canonical_order = true;

  void add_keys(Config& config);
};

struct SegmentSettings {
  std::string data;
  uint64_t seed = 0;
  int64_t workers = 1;
  SegmentCloudSettings clouds;
  AugmentSettings augment;
  SegmentModelSettings model;
  TrainSettings train;
  EvaluationSettings evaluation;

  // Returns a configuration whose targets are these members; it refers to this object.
  Config config();
  // Checks combinations of keys. Throws UsageError naming the keys and their values.
  void check() const;
  // Lists the keys that are used only with some values of other keys.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` valid in any working directory. Throws UsageError if it is not set.
  void locate_data();
  // Copies the settings that do not affect the steps of a run: the location of the data, how often it is evaluated and
  // saved, and the number of epochs, to which a cosine schedule is adapted.
  void take_resumable(const SegmentSettings& other);
  static constexpr const char* kResumable =
      "--data, --workers, --block, --epochs, --validate-every, --checkpoint-every, --on-non-finite, "
      "--replay-steps and the keys of [evaluation]";

  PointSegmenterOptions segmenter(int64_t parts, int64_t classes) const;
  TrainingOptions training() const;
};

}  // namespace geosft
