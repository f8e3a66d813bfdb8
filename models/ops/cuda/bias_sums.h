// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of b_mul and b_add: each thread's sums over its pairs, reduced over the block.
#pragma once

#include "models/ops/cuda/attention_arrays.h"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

template <typename T>
struct BiasSums {
  T mul, add;
};

// Called by every thread of the block.
template <typename T>
using StagedBiases = T[kThreads][2];

template <typename T>
GEOSFT_DEVICE void stage_biases(StagedBiases<T>& staged, const BiasSums<T>& sums, int thread) {
  staged[thread][0] = sums.mul;
  staged[thread][1] = sums.add;
}

// Writes to [slots, heads, 2]. The threads' sums are added in thread order, so results are bitwise reproducible.
template <typename T>
GEOSFT_DEVICE void finish_biases(const StagedBiases<T>& staged, int64_t slot, int64_t heads, int64_t head, int thread,
                                 T* to) {
  if (thread >= 2) return;
  T sum = 0;
  for (int t = 0; t < kThreads; ++t) sum += staged[t][thread];
  to[(slot * heads + head) * 2 + thread] = sum;
}

}  // namespace geosft::cuda
