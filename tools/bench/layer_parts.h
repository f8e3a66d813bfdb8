// SPDX-License-Identifier: Apache-2.0
// Splits the arithmetic and the time of a transformer layer's forward pass by submodule (SFT, table 7).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/benchmark.h"
#include "tools/bench/timing.h"

namespace geosft::bench {

struct LayerPart {
  std::string name;
  double flops = 0;  // floating-point operations of a forward pass: a multiply-add and a max+add count as two
  Timing timing;
};

struct LayerParts {
  int64_t keys = 0;              // sampled tokens of an item
  std::vector<LayerPart> parts;  // in the order of the pass
  Timing layer;                  // of the whole layer, in turns with its parts
};

// Measures the layer of `sizes` that samples `keys` tokens of each item, in evaluation mode without autograd, on
// random normal tokens; layer normalisation and residual sums are one part, whose operations are counted as well.
// `stop` is called between the measurements, and may throw.
LayerParts measure_layer_parts(const Sizes& sizes, int64_t keys, const TimingOptions& options,
                               const std::function<void()>& stop);

}  // namespace geosft::bench
