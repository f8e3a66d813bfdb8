// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/experiment/cloud_settings.h"

namespace geosft::test {

// Of geosft-classify or geosft-segment: a model that runs in milliseconds.
template <class Settings>
Settings small_cloud_settings(const std::string& tokens) {
  Settings settings;
  settings.clouds.points = 40;
  settings.model.tokens = value_named<PointTokens>(tokens, "tokens");
  settings.model.dim = 16;
  settings.model.num_heads = 4;
  settings.model.depth = 2;
  settings.model.sampling.num_samples = 8;
  settings.train.batch_size = 4;
  settings.evaluation.evaluation_batch = 4;
  return settings;
}

}  // namespace geosft::test
