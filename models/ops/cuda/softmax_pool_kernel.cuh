// SPDX-License-Identifier: Apache-2.0
// Computes softmax_pool on a GPU. Rows are reduced in tiles of 512, each with its own maximum and sums, which a second
// kernel combines in order: multiprocessors share large items, and results are bitwise reproducible.
//
// Bound: memory. x is read twice, for the logits and for the sums; the second read of a tile (512 rows of 256 channels:
// 512 KiB) mostly hits the L2 cache, so 4 bytes per element forward (11 us for 32 x 1024 x 256 at 3 TB/s) and 8
// backward; half of that in half types.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"
#include "models/ops/cuda/accessor.h"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

// x [rows, width], u [width]. Per tile: sum of e^(l - largest) x [blocks, width], total of e^(l - largest) and largest
// [blocks]. Per item: out [items, width] and log_sum [items].
template <typename T>
struct PoolForward {
  Accessor<const T> x, u;
  int64_t width;
  PackedRows packed;
  T* sum;
  T* total;
  T* largest;
  T* out;
  T* log_sum;
};

// grad [items, width]; grad_out = grad . out and log_sum [items]; x_grad [rows, width], u_grad [blocks, width].
template <typename T>
struct PoolBackward {
  Accessor<const T> x, u;
  int64_t width;
  PackedRows packed;
  const T* grad;
  const T* grad_out;
  const T* log_sum;
  Accessor<T> x_grad;
  T* u_grad;
};

inline constexpr int kPoolThreads = 256, kPoolRows = 512;

// Provides the steps shared by the kernels over tiles of rows.
template <typename T>
class PoolSteps {
 public:
  static constexpr int kEach = kPoolRows / kPoolThreads, kChannels = 8, kGroups = 16;

  // Rows are padded by one number, so that threads that read a column use all banks.
  struct Tiles {
    T x[kPoolRows][kChannels + 1];
    T vector[kChannels];
    T weight[kPoolRows], slope[kPoolRows];
    T of_thread[kPoolThreads], of_group[kGroups];
  };
  struct State {
    T product[kEach];
  };

  // product = x . vector for the thread's rows; vector(channel) returns an element.
  template <class Block, class PerThread, class Vector>
  GEOSFT_DEVICE static void multiply(Block& block, Tiles& tiles, PerThread& state, const Accessor<const T>& x,
                                     const Vector& vector, int64_t width, const PackedTile& rows) {
    block.each([&](int thread) {
      for (int e = 0; e < kEach; ++e) state[thread].product[e] = 0;
    });
    for (int64_t channel = 0; channel < width; channel += kChannels) {
      block.each([&](int thread) {
        x.visit([&](const auto* numbers) {
          for (int i = thread; i < kPoolRows * kChannels; i += kPoolThreads) {
            const int64_t row = rows.begin + i / kChannels, at = channel + i % kChannels;
            const bool there = row < rows.end && at < width;
            tiles.x[i / kChannels][i % kChannels] = there ? widened(numbers[row * width + at]) : T(0);
          }
        });
        if (thread < kChannels) tiles.vector[thread] = channel + thread < width ? vector(channel + thread) : T(0);
      });
      block.each([&](int thread) {
        for (int e = 0; e < kEach; ++e) {
          const T(&row)[kChannels + 1] = tiles.x[thread + e * kPoolThreads];
          for (int t = 0; t < kChannels; ++t) state[thread].product[e] += row[t] * tiles.vector[t];
        }
      });
    }
  }

  // Reduces of_thread in a fixed order; every thread gets the result.
  template <class Block, class Join>
  GEOSFT_DEVICE static T reduce(Block& block, Tiles& tiles, const Join& join) {
    block.each([&](int thread) {
      if (thread >= kGroups) return;
      T result = tiles.of_thread[thread * (kPoolThreads / kGroups)];
      for (int i = 1; i < kPoolThreads / kGroups; ++i) {
        result = join(result, tiles.of_thread[thread * (kPoolThreads / kGroups) + i]);
      }
      tiles.of_group[thread] = result;
    });
    T result = tiles.of_group[0];
    for (int i = 1; i < kGroups; ++i) result = join(result, tiles.of_group[i]);
    return result;
  }

  // to = sum_i weight_i x_i over the tile's rows.
  template <class Block>
  GEOSFT_DEVICE static void add_rows(Block& block, const T (&weight)[kPoolRows], const Accessor<const T>& x,
                                     int64_t width, const PackedTile& rows, T* to) {
    block.each([&](int thread) {
      x.visit([&](const auto* numbers) {
        for (int64_t channel = thread; channel < width; channel += kPoolThreads) {
          T sum = 0;
          for (int64_t row = rows.begin; row < rows.end; ++row) {
            sum += weight[row - rows.begin] * widened(numbers[row * width + channel]);
          }
          to[channel] = sum;
        }
      });
    });
  }
};

// The base of a kernel that takes these steps.
template <typename T, class Call>
struct PoolKernel {
  static constexpr int kBlockThreads = kPoolThreads;
  using Tiles = typename PoolSteps<T>::Tiles;
  using Arguments = Call;
};

template <typename T>
struct PoolForwardKernel : PoolKernel<T, PoolForward<T>> {
  using Steps = PoolSteps<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PoolForward<T>& in) {
    const int64_t tile = block.x();
    const PackedTile rows = packed_tile(in.packed, kPoolRows, tile);
    if (rows.begin >= rows.end) return;
    auto& tiles = block.template shared<typename Steps::Tiles>();
    typename Block::template PerThread<typename Steps::State> state(block);
    Steps::multiply(
        block, tiles, state, in.x, [&](int64_t at) { return in.u.read(at); }, in.width, rows);
    block.each([&](int thread) {
      T largest = -T(INFINITY);
      for (int e = 0; e < Steps::kEach; ++e) {
        if (rows.begin + thread + e * kPoolThreads < rows.end) largest = larger(largest, state[thread].product[e]);
      }
      tiles.of_thread[thread] = largest;
    });
    const T largest = Steps::reduce(block, tiles, [](T a, T b) { return larger(a, b); });
    block.each([&](int thread) {
      tiles.of_thread[thread] = 0;
      for (int e = 0; e < Steps::kEach; ++e) {
        const int row = thread + e * kPoolThreads;
        tiles.weight[row] = rows.begin + row < rows.end ? exp_below_zero(state[thread].product[e] - largest) : T(0);
        tiles.of_thread[thread] += tiles.weight[row];
      }
    });
    const T total = Steps::reduce(block, tiles, [](T a, T b) { return a + b; });
    Steps::add_rows(block, tiles.weight, in.x, in.width, rows, in.sum + tile * in.width);
    block.each([&](int thread) {
      if (thread != 0) return;
      in.total[tile] = total;
      in.largest[tile] = largest;
    });
  }
};

// Combines the tiles of an item in order; one block per item.
template <typename T>
struct PoolJoinKernel : UnsharedKernel<PoolForward<T>, kPoolThreads> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PoolForward<T>& in) {
    const int64_t item = block.x();
    const RowRange rows = item_rows(in.packed, item);
    const int64_t first = first_block(in.packed, kPoolRows, item);
    const int64_t last = first + (rows.end - rows.begin + kPoolRows - 1) / kPoolRows;
    block.each([&](int thread) {
      T largest = -T(INFINITY), total = 0;
      for (int64_t tile = first; tile < last; ++tile) largest = larger(largest, in.largest[tile]);
      for (int64_t tile = first; tile < last; ++tile)
        total += exp_below_zero(in.largest[tile] - largest) * in.total[tile];
      for (int64_t channel = thread; channel < in.width; channel += kPoolThreads) {
        T sum = 0;
        for (int64_t tile = first; tile < last; ++tile) {
          sum += exp_below_zero(in.largest[tile] - largest) * in.sum[tile * in.width + channel];
        }
        in.out[item * in.width + channel] = first < last ? sum / total : T(0);
      }
      if (thread == 0) in.log_sum[item] = first < last ? largest + std::log(total) : T(0);
    });
  }
};

// Computes d x_i = w_i g + s_i u and d u = sum_i s_i x_i with s_i = w_i (g . x_i - g . out).
template <typename T>
struct PoolBackwardKernel : PoolKernel<T, PoolBackward<T>> {
  using Steps = PoolSteps<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PoolBackward<T>& in) {
    const PackedTile rows = packed_tile(in.packed, kPoolRows, block.x());
    if (rows.begin >= rows.end) return;
    auto& tiles = block.template shared<typename Steps::Tiles>();
    typename Block::template PerThread<typename Steps::State> state(block);
    const T* grad = in.grad + rows.item * in.width;
    Steps::multiply(
        block, tiles, state, in.x, [&](int64_t at) { return in.u.read(at); }, in.width, rows);
    block.each([&](int thread) {
      for (int e = 0; e < Steps::kEach; ++e) {
        const int row = thread + e * kPoolThreads;
        const bool there = rows.begin + row < rows.end;
        tiles.weight[row] = there ? exp_below_zero(state[thread].product[e] - in.log_sum[rows.item]) : T(0);
      }
    });
    Steps::multiply(
        block, tiles, state, in.x, [&](int64_t at) { return grad[at]; }, in.width, rows);
    block.each([&](int thread) {
      for (int e = 0; e < Steps::kEach; ++e) {
        const int row = thread + e * kPoolThreads;
        tiles.slope[row] = tiles.weight[row] * (state[thread].product[e] - in.grad_out[rows.item]);
      }
    });
    block.each([&](int thread) {
      for (int64_t channel = thread; channel < in.width; channel += kPoolThreads) {
        const T u = in.u.read(channel);
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          const int64_t i = row - rows.begin;
          in.x_grad.write(row * in.width + channel, tiles.weight[i] * grad[channel] + tiles.slope[i] * u);
        }
      }
    });
    Steps::add_rows(block, tiles.slope, in.x, in.width, rows, in.u_grad + block.x() * in.width);
  }
};

// Lists the grids of a call, on a GPU or emulated: see launch_kernels.
template <typename T, class Run>
void run_grids(const PoolForward<T>& in, Run&& run) {
  run.template grid<PoolForwardKernel<T>>(tile_blocks(in.packed.rows, in.packed.items, kPoolRows), 1, in);
  run.template grid<PoolJoinKernel<T>>(in.packed.items, 1, in);
}
template <typename T, class Run>
void run_grids(const PoolBackward<T>& in, Run&& run) {
  run.template grid<PoolBackwardKernel<T>>(tile_blocks(in.packed.rows, in.packed.items, kPoolRows), 1, in);
}

}  // namespace geosft::cuda
