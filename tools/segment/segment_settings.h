// SPDX-License-Identifier: Apache-2.0
// Everything a segmentation experiment is configured by: one TOML file, one command-line option a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/point_segmenter.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

struct SegmentCloudSettings : CloudSettings {
  int64_t block = 0;                  // points that an evaluation sees at once; 0: all of a cloud
  bool published_validation = false;  // choose the checkpoint by it, instead of training on it

  void add_keys(Config& config);
};

struct SegmentModelSettings : EncoderSettings {
  std::string tokens = "radial";
  bool category = true;  // tell the model the class of a shape
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

  // The configuration whose keys are these members; it refers to this object.
  Config config();
  // What no key alone can tell. Throws UsageError naming the keys and their values.
  void check() const;
  // Which keys the values of others make use of.
  std::vector<KeyUse> key_uses() const;
  // Makes `data` a name that holds in any working folder. Throws UsageError when there is none.
  void locate_data();
  // What the steps of a run do not depend on: where the data lies, how often it is looked at, and the number of epochs,
  // along whose new curve a cosine schedule goes on.
  void take_resumable(const SegmentSettings& other);
  static constexpr const char* kResumable =
      "--data, --workers, --block, --epochs, --validate-every, --checkpoint-every, --on-non-finite, "
      "--replay-steps and the keys of [evaluation]";

  PointSegmenterOptions segmenter(int64_t parts, int64_t classes) const;
  TrainingOptions training() const;
};

}  // namespace geosft
