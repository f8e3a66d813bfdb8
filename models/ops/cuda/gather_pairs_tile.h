// SPDX-License-Identifier: Apache-2.0
// gather_pairs on a GPU, a number of the result a thread; and the gradient of x: a number a thread, from the bins that
// drew its row, in their order.
//
// Bound: memory, three numbers an element of the result forward (1.5 us for 32 x 256 x 256 at 3 TB/s).
#pragma once

#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

// x [rows, width], top, partner and weight [bins], out [bins, width]. What names no row counts as the nearest.
template <typename T>
struct PairGather {
  const T* x;
  const int64_t* top;
  const int64_t* partner;
  const T* weight;
  int64_t rows, bins, width;
  T* out;
};

// grad [bins, width], x_grad [rows, width]. Row r was drawn as codes[row_ptr[r]] … codes[row_ptr[r + 1] - 1]: 2 j as
// the top of bin j, 2 j + 1 as its partner.
template <typename T>
struct PairScatter {
  const T* grad;
  const T* weight;
  const int64_t* row_ptr;
  const int64_t* codes;
  int64_t rows, width;
  T* x_grad;
};

inline constexpr int kGatherThreads = 256;

template <typename T>
class PairGatherTile {
 public:
  static constexpr int kBlockThreads = kGatherThreads;
  struct Tiles {};
  using Arguments = PairGather<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.bins * in.width) return;
      const int64_t bin = at / in.width, channel = at % in.width;
      const T first = in.x[clamped(in.top[bin], 0, in.rows - 1) * in.width + channel];
      const T second = in.x[clamped(in.partner[bin], 0, in.rows - 1) * in.width + channel];
      in.out[at] = second + in.weight[bin] * (first - second);
    });
  }
};

template <typename T>
class PairScatterTile {
 public:
  static constexpr int kBlockThreads = kGatherThreads;
  struct Tiles {};
  using Arguments = PairScatter<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.rows * in.width) return;
      const int64_t row = at / in.width, channel = at % in.width;
      T sum = 0;
      for (int64_t i = in.row_ptr[row]; i < in.row_ptr[row + 1]; ++i) {
        const int64_t bin = in.codes[i] / 2;
        const T share = in.codes[i] % 2 == 0 ? in.weight[bin] : T(1) - in.weight[bin];
        sum += share * in.grad[bin * in.width + channel];
      }
      in.x_grad[at] = sum;
    });
  }
};

// The grids of a call, on a GPU or emulated.
template <typename T, class Run>
void gather_grids(const PairGather<T>& in, Run&& run) {
  run.template grid<PairGatherTile<T>>((in.bins * in.width + kGatherThreads - 1) / kGatherThreads, 1, in);
}
template <typename T, class Run>
void gather_grids(const PairScatter<T>& in, Run&& run) {
  run.template grid<PairScatterTile<T>>((in.rows * in.width + kGatherThreads - 1) / kGatherThreads, 1, in);
}

}  // namespace geosft::cuda
