// SPDX-License-Identifier: Apache-2.0
// Configuration sections shared by all tools for point clouds.
#pragma once

#include <cstdint>
#include <string>

#include "models/ops/point_tokens.h"
#include "tools/experiment/experiment_settings.h"

namespace geosft {

// Section [clouds].
struct CloudSettings {
  int64_t points = 1024;           // per cloud, as input of the model
  bool normals = true;             // pass normals to the model
  int64_t points_per_mesh = 4096;  // sampled once per mesh; subsets are sampled from these
  int64_t max_per_class = 0;       // training clouds of each class; 0: all
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

// Throws UsageError if the attention needs tokens on a grid, or edges: clouds have neither.
void check_cloud_attention(const EncoderSettings& model);

// Adds the key `tokens` of section [model]; point_tokens_of parses its value.
void add_tokens_key(Config& config, std::string& tokens);
PointTokens point_tokens_of(const std::string& name);

}  // namespace geosft
