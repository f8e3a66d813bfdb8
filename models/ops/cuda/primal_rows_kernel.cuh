// SPDX-License-Identifier: Apache-2.0
// Pools keys and values, and sums rows over items, for means and their gradients. Bound: memory. Sums are computed per
// tile of rows and combined in order.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

// Returns the rows of a group of the item [begin, end); empty if the item has fewer groups.
GEOSFT_DEVICE RowRange group_rows(const RowRange& item, int64_t group, int64_t factor) {
  const int64_t rows = item.end - item.begin;
  if (rows <= 0 || group > (rows - 1) / factor) return {item.end, item.end};
  const int64_t begin = item.begin + group * factor;
  return {begin, item.end - begin > factor ? begin + factor : item.end};
}

// Computes a tile of pooled rows of one head.
template <typename T>
struct PrimalPoolKernel : UnsharedKernel<PrimalPooling<T>, 256> {
  static constexpr int kRows = 64;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PrimalPooling<T>& in) {
    const int64_t head = block.y();
    const PackedTile rows = packed_tile(in.pooled.rows(head), kRows, block.x());
    if (rows.begin >= rows.end) return;
    const RowRange item = item_rows(in.packed, rows.item);
    block.each([&](int thread) {
      for (int64_t i = thread; i < (rows.end - rows.begin) * in.width; i += PrimalPoolKernel::kBlockThreads) {
        const int64_t row = rows.begin + i / in.width, channel = i % in.width;
        const RowRange group = group_rows(item, row - rows.item_begin, in.factor[head]);
        T sum = 0;
        in.from.visit([&](const auto* numbers) {
          for (int64_t from = group.begin; from < group.end; ++from) {
            sum += widened(numbers[(from * in.heads + head) * in.width + channel]);
          }
        });
        in.to[in.pooled.at(row, head) * in.width + channel] =
            group.begin < group.end ? sum / static_cast<T>(group.end - group.begin) : T(0);
      }
    });
  }
};

// Computes the gradients of a tile of unpooled rows of one head.
template <typename T>
struct PrimalUnpoolKernel : UnsharedKernel<PrimalUnpooling<T>, 256> {
  static constexpr int kRows = 64;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PrimalUnpooling<T>& in) {
    const int64_t head = block.y(), factor = in.factor[head];
    const PackedTile rows = packed_tile(in.packed, kRows, block.x());
    if (rows.begin >= rows.end) return;
    const RowRange item = item_rows(in.packed, rows.item), pooled = item_rows(in.pooled.rows(head), rows.item);
    block.each([&](int thread) {
      for (int64_t i = thread; i < (rows.end - rows.begin) * in.width; i += PrimalUnpoolKernel::kBlockThreads) {
        const int64_t row = rows.begin + i / in.width;
        const int channel = static_cast<int>(i % in.width);
        const int64_t place = (row - rows.item_begin) / factor, from = pooled.begin + place;
        const RowRange group = group_rows(item, place, factor);
        const T gradient =
            from < pooled.end ? shifted_x(in.pooled, from, head, in.heads, rows.item, in.width, channel) : T(0);
        in.to[(row * in.heads + head) * in.width + channel] = gradient / static_cast<T>(group.end - group.begin);
      }
    });
  }
};

// Sums a tile of rows of one head. Threads split the rows; their sums are added in thread order.
template <typename T>
class PrimalItemSumKernel {
 public:
  static constexpr int kBlockThreads = 256;
  struct Tiles {
    T sum[kBlockThreads];
  };
  using Arguments = PrimalItemSums<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const int64_t head = block.y();
    const PackedTile rows = packed_tile(in.tokens.rows(head), kItemSumRows, block.x());
    if (rows.begin >= rows.end) return;
    T* const to = in.tile_sums + (block.x() * in.heads + head) * in.width;
    Tiles& tiles = block.template shared<Tiles>();
    // Each thread handles one channel; if there are more channels than threads, several rounds follow.
    const int channels = in.width < kBlockThreads ? in.width : kBlockThreads, parts = kBlockThreads / channels;
    for (int first = 0; first < in.width; first += channels) {
      block.each([&](int thread) {
        const int channel = first + thread % channels, part = thread / channels;
        T sum = 0;
        in.tokens.x.visit([&](const auto* numbers) {
          for (int64_t row = rows.begin + part; row < rows.end && part < parts && channel < in.width; row += parts) {
            sum += widened(numbers[in.tokens.at(row, head) * in.width + channel]);
          }
        });
        tiles.sum[thread] = sum;
      });
      block.each([&](int thread) {
        if (thread >= channels || first + thread >= in.width) return;
        T sum = 0;
        for (int part = 0; part < parts; ++part) sum += tiles.sum[part * channels + thread];
        to[first + thread] = sum;
      });
    }
  }
};

// Adds the tiles in order: one block per item and head, one channel per thread.
template <typename T>
struct PrimalItemSumJoinKernel : UnsharedKernel<PrimalItemSums<T>, 128> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PrimalItemSums<T>& in) {
    const int64_t item = block.x(), head = block.y();
    const PackedRows packed = in.tokens.rows(head);
    const RowRange rows = item_rows(packed, item);
    const int64_t first = first_block(packed, kItemSumRows, item);
    const int64_t last = first + (rows.end - rows.begin + kItemSumRows - 1) / kItemSumRows;
    block.each([&](int thread) {
      for (int channel = thread; channel < in.width; channel += PrimalItemSumJoinKernel::kBlockThreads) {
        T sum = 0;
        for (int64_t tile = first; tile < last; ++tile)
          sum += in.tile_sums[(tile * in.heads + head) * in.width + channel];
        in.to[(item * in.heads + head) * in.width + channel] = sum;
      }
    });
  }
};

}  // namespace geosft::cuda
