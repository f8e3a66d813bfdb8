// SPDX-License-Identifier: Apache-2.0
// What the kernels of primal_attention see: contiguous arrays. Forward and backward are computations
// between two sides, each with rows x and columns y, over pairs of weight w = exp(scale x . x' + offset + offset')
// (softmax) or w = phi(x) . phi(x') (linear):
//   value_i = sum_j w_ij y'_j,   gradient_i = sum_j (y_i . y'_j + further_i further'_j) dw_ij / dx_i
// Forward is the value of queries from pooled keys. Backward is the gradient of queries from keys, and both of the keys
// from queries, whose y is then the gradient of their result and further what that of the normaliser comes to.
#pragma once

#include "models/ops/cuda/paired_rows.h"

namespace geosft::cuda {

// Row r of head s is number r * row_step + s * head_step of x [.., c], y [.., cv], further and offset [..]; further is
// 1 and offset is 0 where they are null. shift [items, heads, c] is taken off x, if it is given. Head s has items of
// its own, s * ptr_step numbers of `packed.ptr` further on.
template <typename T>
struct PrimalSide {
  Accessor<const T> x, y;
  const T* further;
  const T* offset;
  const T* shift;
  int64_t row_step, head_step;
  PackedRows packed;
  int64_t ptr_step;

  GEOSFT_DEVICE int64_t at(int64_t row, int64_t head) const { return row * row_step + head * head_step; }
  GEOSFT_DEVICE PackedRows rows(int64_t head) const {
    return {packed.ptr ? packed.ptr + head * ptr_step : nullptr, packed.items, packed.rows};
  }
};

// Row r of head s has the other rows col[rowptr[e]] … col[rowptr[e + 1] - 1] with e = r + s * head_step, of those that
// are in its item. rowptr null: all of its item.
struct PrimalMaskRows {
  const int64_t* rowptr;
  const int64_t* col;
  int64_t entries, head_step;
};

// Results are null where they are not asked for: value [.., cv], and with a normaliser [..] divided by the sum of
// weights (softmax: the normaliser is its logarithm; linear: it is that sum and eps); gradient [.., c]. All are places
// of the own side.
template <typename T>
struct PrimalTask {
  PrimalSide<T> own, other;
  int64_t heads;
  int c, cv;
  bool linear;
  T scale, eps;
  PrimalMaskRows mask;
  T* value;
  T* normalizer;
  T* gradient;
  // Of linear, working memory: sums of phi(x') [further', y'] over tiles of the other side, [slots, heads, c, cv + 1],
  // and over its items, [items, heads, c, cv + 1].
  T* tile_sums;
  T* item_sums;

  PairPart part() const { return normalizer ? PairPart::kValue : (value ? PairPart::kBoth : PairPart::kGradient); }
};

// Means of `from` [rows, heads, width] over groups of factor[s] rows of an item, into `to`, pooled rows of width
// `width` (of which only the steps and the items count); the last group of an item may be shorter.
template <typename T>
struct PrimalPooling {
  Accessor<const T> from;
  PackedRows packed;
  int64_t heads;
  int width;
  const int64_t* factor;
  PrimalSide<T> pooled;
  T* to;
};

// Its transpose: gradients of `from` from those of the pooled rows, pooled.x, of which pooled.shift is taken first.
template <typename T>
struct PrimalUnpooling {
  PackedRows packed;
  int64_t heads;
  int width;
  const int64_t* factor;
  PrimalSide<T> pooled;
  T* to;
};

// Sums of x of a side, without its shift, over each item: to [items, heads, width]. Working memory: tile_sums [slots,
// heads, width], of tiles of kItemSumRows rows.
inline constexpr int64_t kItemSumRows = 2048;
template <typename T>
struct PrimalItemSums {
  PrimalSide<T> side;
  int64_t heads;
  int width;
  T* to;
  T* tile_sums;

  int64_t slots() const { return tile_slots(side.packed.rows, side.packed.items, kItemSumRows); }
};

// What is taken off channel t of x of a row of the item and head.
template <typename T>
GEOSFT_DEVICE T shift_of(const PrimalSide<T>& side, int64_t head, int64_t heads, int64_t item, int width, int channel) {
  return side.shift ? side.shift[(item * heads + head) * width + channel] : T(0);
}

// x of a row of the batch and head, channel t.
template <typename T>
GEOSFT_DEVICE T shifted_x(const PrimalSide<T>& side, int64_t row, int64_t head, int64_t heads, int64_t item, int width,
                          int channel) {
  return side.x.read(side.at(row, head) * width + channel) - shift_of(side, head, heads, item, width, channel);
}

template <typename T>
GEOSFT_DEVICE T further_of(const PrimalSide<T>& side, int64_t row, int64_t head) {
  return side.further ? side.further[side.at(row, head)] : T(1);
}

template <typename T>
GEOSFT_DEVICE T offset_of(const PrimalSide<T>& side, int64_t row, int64_t head) {
  return side.offset ? side.offset[side.at(row, head)] : T(0);
}

// `count` rows from `first` on, x or y, into a tile of whole Vec4; zeros elsewhere.
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_shifted_x(const PrimalSide<T>& side, const PrimalTask<T>& task, Vec4<T> (&tile)[Rows][Stride],
                                  int padded, int64_t item, int64_t first, int count, int64_t head, int thread) {
  side.x.visit([&](const auto* numbers) {
    for (int i = thread; i < Rows * padded; i += kThreads) {
      const int row = i / padded, channel = i % padded;
      T x = 0;
      if (row < count && channel < task.c) {
        x = widened(numbers[side.at(first + row, head) * task.c + channel]) -
            shift_of(side, head, task.heads, item, task.c, channel);
      }
      tile[row][channel / 4].v[channel % 4] = x;
    }
  });
}
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_y(const PrimalSide<T>& side, const PrimalTask<T>& task, Vec4<T> (&tile)[Rows][Stride],
                          int padded, int64_t first, int count, int64_t head, int thread) {
  load_rows(tile, padded, side.y, first, count, side.row_step * task.cv, side.head_step * head * task.cv, task.cv,
            thread);
}

// The rows that a tile owns, and the item of the other side that they meet.
struct PrimalRows {
  PackedTile own;
  RowRange other;

  GEOSFT_DEVICE int own_count() const { return static_cast<int>(own.end - own.begin); }
};
template <typename T>
GEOSFT_DEVICE PrimalRows primal_rows(const PrimalTask<T>& task, int64_t slot, int64_t head) {
  const PackedTile own = packed_tile(task.own.rows(head), kThreads, slot);
  return {own, item_rows(task.other.rows(head), own.item)};
}

// to = factor * sum, `width` numbers.
template <typename T, int Chunks>
GEOSFT_DEVICE void put_sums(const Vec4<T> (&sum)[Chunks], T factor, T* to, int width) {
  GEOSFT_UNROLL
  for (int chunk = 0; chunk < Chunks; ++chunk) {
    GEOSFT_UNROLL
    for (int t = 0; t < 4; ++t) {
      if (chunk * 4 + t < width) to[chunk * 4 + t] = sum[chunk].v[t] * factor;
    }
  }
}

}  // namespace geosft::cuda
