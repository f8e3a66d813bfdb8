// SPDX-License-Identifier: Apache-2.0
// What the configurations of all tools for point clouds have in common.
#pragma once

#include <cstdint>
#include <string>

#include "models/point_tokens.h"
#include "tools/experiment/experiment_settings.h"

namespace geosft {

// Section [clouds].
struct CloudSettings {
  int64_t points = 1024;           // of a cloud that the model sees
  bool normals = true;             // whether the model is given them
  int64_t points_per_mesh = 4096;  // sampled once from a mesh; subsets are drawn from these
  double validation_fraction = 0.0;
  bool monitor_test = false;

  void add_keys(Config& config);
};

// Section [augment].
struct AugmentSettings {
  double scale_low = 0.6, scale_high = 1.4;
  double jitter = 0.0, stretch = 0.0;
  std::string rotate = "none";
  double drop_tokens = 0.0;

  void add_keys(Config& config);
  // Throws UsageError naming the keys that contradict each other.
  void check() const;
};

// Throws UsageError when the attention needs what clouds have not: places on a grid, or edges.
void check_cloud_attention(const EncoderSettings& model);

// Key `tokens` of section [model], and what its value names.
void add_tokens_key(Config& config, std::string& tokens);
PointTokens point_tokens_of(const std::string& name);

}  // namespace geosft
