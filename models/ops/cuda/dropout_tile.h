// SPDX-License-Identifier: Apache-2.0
// seeded_dropout on a GPU: four elements a thread, which one number decides. Bound: memory, one reading and one
// writing.
#pragma once

#include "geometry/cuda/block.h"
#include "models/ops/dropout_mask.h"

namespace geosft::cuda {

template <typename T>
struct DropoutCall {
  const T* x;
  T* out;
  int64_t count;
  uint64_t threshold, seed;
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
      const int64_t group = block.x() * kBlockThreads + thread, first = group * kDropoutLanes;
      const uint64_t bits = dropout_bits(in.seed, static_cast<uint64_t>(group));
      GEOSFT_UNROLL
      for (int lane = 0; lane < kDropoutLanes; ++lane) {
        const int64_t at = first + lane;
        if (at < in.count) in.out[at] = dropped(bits, lane, in.threshold) ? T(0) : in.x[at] * in.scale;
      }
    });
  }
};

template <typename T, class Run>
void dropout_grids(const DropoutCall<T>& in, Run&& run) {
  constexpr int64_t kEach = DropoutTile<T>::kBlockThreads * kDropoutLanes;
  run.template grid<DropoutTile<T>>((in.count + kEach - 1) / kEach, 1, in);
}

}  // namespace geosft::cuda
