// SPDX-License-Identifier: Apache-2.0
// Computes max_pool on a GPU, one channel of an item per thread: the threads of an item read whole rows. Offsets and
// rows out of range are clamped: the result is then wrong, but no access is out of bounds.
//
// Bound: memory, x is read once.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
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

  GEOSFT_HOST_DEVICE int64_t elements() const { return packed.items * width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    const int64_t channel = at % width;
    const RowRange rows = item_rows(packed, at / width);
    T best = 0;
    int64_t best_row = -1;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      const T number = x[i * width + channel];
      if (best_row >= 0 && !(number > best || (number != number && best == best))) continue;
      best = number;
      best_row = i;
    }
    out[at] = best;
    row[at] = best_row;
  }
};

// grad and row [items, width]; x_grad [rows, width], zeros before. Elements of grad go to different elements of x_grad:
// an item has its own rows, and one maximum per channel.
template <typename T>
struct MaxPoolGradientCall {
  const T* grad;
  const int64_t* row;
  int64_t items, rows, width;
  T* x_grad;

  GEOSFT_HOST_DEVICE int64_t elements() const { return items * width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    if (row[at] < 0 || rows == 0) return;
    x_grad[clamped(row[at], 0, rows - 1) * width + at % width] = grad[at];
  }
};

}  // namespace geosft::cuda
