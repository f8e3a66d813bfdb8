// SPDX-License-Identifier: Apache-2.0
// Measures the peak rates of the two inner loops of attention, with all operands in registers and the L1 cache: the
// upper bound for a kernel.
#pragma once

#include <cstdint>

namespace geosft::bench {

struct TileRates {
  double max_add = 0;       // elements per second of sum += max(a, b), float32
  double multiply_add = 0;  // elements per second of sum += a * b, float32
};

// Measures register tiles of rows x vectors accumulators with a packed vector and a broadcast scalar as operands, as in
// the attention kernels and with their vector target. Returns the total rate of `threads` threads of ATen's pool for
// the best of several tile shapes. `seconds` is the duration of the measurement.
TileRates measure_tile_rates(int64_t threads, double seconds = 0.5);

// For tests: returns the mean of the sums of a 4 x 4 tile after one pass over operands that are both t % 7 at depth t <
// 64.
double tile_mean(bool use_max);

}  // namespace geosft::bench
