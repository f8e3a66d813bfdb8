// SPDX-License-Identifier: Apache-2.0
// The configuration of a segmentation experiment.
#pragma once

#include <cstdint>
#include <vector>

#include "data/formats/shape_file.h"
#include "data/points/part_dataset.h"
#include "models/point_segmenter.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

struct SegmentCloudSettings : CloudSettings {
  int64_t block = 0;                  // points per forward pass in evaluation; 0: the whole cloud
  bool published_validation = false;  // select the checkpoint with it, instead of training on it

  void add_keys(Config& config);
};

struct SegmentModelSettings : PointModelSettings {
  bool category = true;  // give the class of a shape to the model

  void add_keys(Config& config);
};

struct SegmentSettings : CloudExperimentSettings<SegmentCloudSettings, SegmentModelSettings> {
  static constexpr const char* kDataHelp = "dataset: a folder";
  Config config() { return CloudExperimentSettings::config(kDataHelp); }
  // Returns the values, as TOML, of a training without a configuration file; those of the struct are the paper's.
  static std::string small_preset();
  static constexpr SmallSizes kSmallSizes = {.num_samples = 64, .head_num_samples = 0, .batch_size = 8};
  void check() const;
  // Lists the keys that are used only with some values of other keys.
  std::vector<KeyUse> key_uses() const;
  static constexpr FindReadOptionUse* kReadOptionUse = part_read_option_use;
  // Makes `data` valid in any working directory. Throws UsageError if it is not set.
  void locate_data();
  void take_resumable(const SegmentSettings& other);
  // Names what take_resumable copies.
  static constexpr const char* kResumable =
      "--data, --workers, --block, --epochs, --validate-every, --checkpoint-every, --on-non-finite, "
      "--replay-steps, --tensorboard and the keys of [evaluation]";

  PointSegmenterOptions segmenter(int64_t parts, int64_t classes) const;
  // Returns how the files of the dataset are read.
  ShapeReadOptions reading() const { return {clouds.columns, clouds.drop_invalid}; }
};

}  // namespace geosft
