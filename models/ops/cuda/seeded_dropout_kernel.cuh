// SPDX-License-Identifier: Apache-2.0
// Computes seeded_dropout on a GPU: one random number decides four elements per thread. Bound: memory, one read and one
// write.
#pragma once

#include "geometry/cuda/block.h"
#include "models/ops/cuda/accessor.h"
#include "models/ops/dropout_mask.h"

namespace geosft::cuda {

template <typename T>
struct DropoutCall {
  Accessor<const T> x;
  Accessor<T> out;
  int64_t count, first;  // number of elements, and the position of the first
  uint64_t threshold;
  const int64_t* seed;
  T scale;
};

template <typename T>
class DropoutTile {
 public:
  static constexpr int kBlockThreads = 256;
  struct Tiles {};
  using Arguments = DropoutCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      // The first and the last group of positions may lie partly outside.
      const int64_t group = in.first / kDropoutLanes + block.x() * kBlockThreads + thread;
      const uint64_t bits = dropout_bits(static_cast<uint64_t>(*in.seed), static_cast<uint64_t>(group));
      GEOSFT_UNROLL
      for (int lane = 0; lane < kDropoutLanes; ++lane) {
        const int64_t at = group * kDropoutLanes + lane - in.first;
        if (at >= 0 && at < in.count)
          in.out.write(at, dropped(bits, lane, in.threshold) ? T(0) : in.x.read(at) * in.scale);
      }
    });
  }
};

template <typename T, class Run>
void run_grids(const DropoutCall<T>& in, Run&& run) {
  constexpr int64_t kEach = DropoutTile<T>::kBlockThreads * kDropoutLanes;
  run.template grid<DropoutTile<T>>((in.first % kDropoutLanes + in.count + kEach - 1) / kEach, 1, in);
}

}  // namespace geosft::cuda
