// SPDX-License-Identifier: Apache-2.0
// Computes column_sums on a GPU: a thread sums a channel of a block of rows, and blocks are added in order.
//
// Bound: memory, a and b are read once.
#pragma once

#include "geometry/cuda/element_kernel.cuh"

namespace geosft::cuda {

// a and b [rows, width]; block_sums [blocks, 2 width], blocks of block_rows rows; out [2 width].
template <typename T>
struct ColumnSumsCall {
  const T *a, *b;
  int64_t rows, width, block_rows, blocks;
  double* block_sums;
  double* out;
};

inline constexpr int kColumnThreads = 128;

template <typename T>
struct ColumnSumsKernel : UnsharedKernel<ColumnSumsCall<T>, kColumnThreads> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const ColumnSumsCall<T>& in) {
    block.each([&](int thread) {
      const int64_t channel = block.y() * kColumnThreads + thread;
      if (channel >= in.width) return;
      const int64_t begin = block.x() * in.block_rows, after = begin + in.block_rows;
      double sum = 0, product = 0;
      for (int64_t row = begin; row < (after < in.rows ? after : in.rows); ++row) {
        const double number = in.a[row * in.width + channel];
        sum += number;
        product += number * static_cast<double>(in.b[row * in.width + channel]);
      }
      in.block_sums[block.x() * 2 * in.width + channel] = sum;
      in.block_sums[block.x() * 2 * in.width + in.width + channel] = product;
    });
  }
};

// Adds the sums of the blocks.
template <typename T>
struct ColumnSumsJoin {
  ColumnSumsCall<T> in;

  GEOSFT_HOST_DEVICE int64_t elements() const { return 2 * in.width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    double sum = 0;
    for (int64_t n = 0; n < in.blocks; ++n) sum += in.block_sums[n * 2 * in.width + at];
    in.out[at] = sum;
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const ColumnSumsCall<T>& in, Run&& run) {
  run.template grid<ColumnSumsKernel<T>>(in.blocks, (in.width + kColumnThreads - 1) / kColumnThreads, in);
  element_grid<kColumnThreads>(ColumnSumsJoin<T>{in}, run);
}

}  // namespace geosft::cuda
