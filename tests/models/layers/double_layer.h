// SPDX-License-Identifier: Apache-2.0
// A layer of attention in double precision with the same weights in every call.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "tests/support.h"

namespace geosft::test {

template <class Layer, class Options>
Layer double_layer(int64_t width, int64_t heads, const Options& options) {
  manual_seed(4);
  Layer layer(width, heads, options);
  layer->to(at::kDouble);
  return layer;
}

}  // namespace geosft::test
