// SPDX-License-Identifier: Apache-2.0
// The configuration of a classification experiment.
#pragma once

#include <cstdint>
#include <vector>

#include "data/points/point_dataset.h"
#include "models/point_classifier.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

template <>
inline constexpr auto enum_table<SplitOrder> = std::to_array<EnumName<SplitOrder>>({{"hash", SplitOrder::hash},
                                                                                    {"name", SplitOrder::name}});

struct ClassifyCloudSettings : CloudSettings {
  int64_t test_every = 5;
  SplitOrder split_order = SplitOrder::hash;  // RUN folders without this key have `name` (former_value)
  bool allow_missing = false, drop_background = false;
  bool skip_broken = false;   // leave out broken files instead of ending
  bool kernel_ridge = false;  // average with a kernel regression on histograms of point pairs

  void add_keys(Config& config);
};

struct ClassifyModelSettings : PointModelSettings {
  int64_t head_num_samples = 512;
  bool head_as_trained = true;
  double head_dropout = 0.0;

  int64_t* head_samples() { return &head_num_samples; }
  const int64_t* head_samples() const { return &head_num_samples; }
  void add_keys(Config& config);
};

struct ClassifySettings : CloudExperimentSettings<ClassifyCloudSettings, ClassifyModelSettings> {
  ClassifySettings() { data = "furniture"; }

  static constexpr const char* kDataHelp = "dataset: furniture, or a folder";
  Config config() { return CloudExperimentSettings::config(kDataHelp); }
  // Returns the values, as TOML, of a training without a configuration file; those of the struct are the paper's.
  static std::string small_preset();
  static constexpr SmallSizes kSmallSizes = {.num_samples = 32, .head_num_samples = 128, .batch_size = 16};
  // Lists the keys that are used only with some values of other keys.
  std::vector<KeyUse> key_uses() const;
  static constexpr FindReadOptionUse* kReadOptionUse = read_option_use;
  // Makes `data` valid in any working directory.
  void locate_data() { data = absolute_source(data).string(); }
  // Names what take_resumable copies.
  static constexpr const char* kResumable =
      "--data, --workers, --epochs, --validate-every, --checkpoint-every, --on-non-finite, --replay-steps, "
      "--tensorboard and the keys of [evaluation]";

  PointClassifierOptions classifier(int64_t classes) const;
  PointDatasetOptions dataset() const;
};

}  // namespace geosft
