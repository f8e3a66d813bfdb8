// SPDX-License-Identifier: Apache-2.0
// The peak rates of the two inner loops of attention on this machine, with all operands in registers and the L1 cache:
// the upper bound for a kernel.
#pragma once

#include <cstdint>

namespace geosft::bench {

struct TileRates {
  double max_add = 0;       // elements a second of sum += max(a, b), float32
  double multiply_add = 0;  // elements a second of sum += a * b, float32
};

// Register tiles of rows x vectors accumulators with a packed vector and a broadcast scalar as operands, as in the
// attention kernels and with their vector target. Several tile shapes are tried, and the best counts. The rate is that
// of `threads` threads of ATen's pool together. `seconds` is the duration of the measurement.
TileRates measure_tile_rates(int64_t threads, double seconds = 0.5);

// The mean of the sums that a tile of 4 x 4 gives after one pass over operands that are both t % 7 at depth t < 64: for
// tests of the loops that are timed.
double tile_mean(bool use_max);

}  // namespace geosft::bench
