// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/tools/experiment/small_sizes.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft::test {

// Of geosft-classify or geosft-segment: a model that runs in milliseconds.
template <class Settings>
Settings small_cloud_settings(const std::string& tokens) {
  Settings settings;
  settings.clouds.points = 40;
  settings.model.tokens = value_named<PointTokens>(tokens, "tokens");
  set_small_sizes(settings, {.depth = 2, .num_samples = 8, .batch_size = 4, .evaluation_batch = 4});
  return settings;
}

}  // namespace geosft::test
