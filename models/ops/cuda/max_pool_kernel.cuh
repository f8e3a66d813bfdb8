// SPDX-License-Identifier: Apache-2.0
// Computes max_pool on a GPU, one channel of an item per thread: the threads of an item read whole rows. Offsets and
// rows out of range are clamped: the result is then wrong, but no access is out of bounds.
//
// Bound: memory, x is read once.
#pragma once

#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

// x [packed.rows, width]; out and row [packed.items, width], row -1 for an empty item.
template <typename T>
struct MaxPoolCall {
  const T* x;
  PackedRows packed;
  int64_t width;
  T* out;
  int64_t* row;
};

// grad and row [items, width]; x_grad [rows, width], zeros before.
template <typename T>
struct MaxPoolGradientCall {
  const T* grad;
  const int64_t* row;
  int64_t items, rows, width;
  T* x_grad;
};

inline constexpr int kMaxPoolThreads = 256;

template <typename T>
class MaxPoolTile {
 public:
  static constexpr int kBlockThreads = kMaxPoolThreads;
  struct Tiles {};
  using Arguments = MaxPoolCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.packed.items * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange rows = item_rows(in.packed, at / in.width);
      T best = 0;
      int64_t best_row = -1;
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        const T x = in.x[i * in.width + channel];
        if (best_row >= 0 && !(x > best || (x != x && best == best))) continue;
        best = x;
        best_row = i;
      }
      in.out[at] = best;
      in.row[at] = best_row;
    });
  }
};

// Writes different elements of x_grad: an item has its own rows, and one maximum per channel.
template <typename T>
class MaxPoolGradientTile {
 public:
  static constexpr int kBlockThreads = kMaxPoolThreads;
  struct Tiles {};
  using Arguments = MaxPoolGradientCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.items * in.width || in.row[at] < 0 || in.rows == 0) return;
      in.x_grad[clamped(in.row[at], 0, in.rows - 1) * in.width + at % in.width] = in.grad[at];
    });
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const MaxPoolCall<T>& in, Run&& run) {
  run.template grid<MaxPoolTile<T>>((in.packed.items * in.width + kMaxPoolThreads - 1) / kMaxPoolThreads, 1, in);
}
template <typename T, class Run>
void run_grids(const MaxPoolGradientCall<T>& in, Run&& run) {
  run.template grid<MaxPoolGradientTile<T>>((in.items * in.width + kMaxPoolThreads - 1) / kMaxPoolThreads, 1, in);
}

}  // namespace geosft::cuda
