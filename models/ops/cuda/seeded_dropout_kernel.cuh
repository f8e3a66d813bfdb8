// SPDX-License-Identifier: Apache-2.0
// Computes seeded_dropout on a GPU: one random number decides four elements per thread. Bound: memory, one read and one
// write.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "models/ops/cuda/accessor.h"
#include "models/ops/dropout_mask.h"

namespace geosft::cuda {

// An element of the call is a group of positions that take their bits from one random number. The first and the last
// group may lie partly outside.
template <typename T>
struct DropoutCall {
  Accessor<const T> x;
  Accessor<T> out;
  int64_t count, first;  // number of elements, and the position of the first
  uint64_t threshold;
  const int64_t* seed;
  T scale;

  GEOSFT_HOST_DEVICE int64_t elements() const {
    return (first % kDropoutLanes + count + kDropoutLanes - 1) / kDropoutLanes;
  }
  GEOSFT_DEVICE void compute(int64_t place) const {
    const int64_t group = first / kDropoutLanes + place;
    const uint64_t bits = dropout_bits(static_cast<uint64_t>(*seed), static_cast<uint64_t>(group));
    GEOSFT_UNROLL
    for (int lane = 0; lane < kDropoutLanes; ++lane) {
      const int64_t at = group * kDropoutLanes + lane - first;
      if (at >= 0 && at < count) out.write(at, dropped(bits, lane, threshold) ? T(0) : x.read(at) * scale);
    }
  }
};

}  // namespace geosft::cuda
