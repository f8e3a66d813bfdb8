// SPDX-License-Identifier: Apache-2.0
// Sizes of a layer for models that take no time.
#pragma once

#include "models/layers/transformer_layer.h"

namespace geosft::test {

inline LayerOptions small_layer(int64_t num_samples, int64_t width = 16, int64_t heads = 4) {
  LayerOptions options;
  options.attention.width = width;
  options.attention.heads = heads;
  options.attention.sampler.num_samples = num_samples;
  return options;
}

}  // namespace geosft::test
