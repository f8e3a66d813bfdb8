// SPDX-License-Identifier: Apache-2.0
// Defines the contiguous arrays that the kernels of primal_attention read and write. Forward and backward are
// computations between two sides, each with rows x and columns y, over pairs of weight w = exp(scale x . x' + offset +
// offset') (softmax) or w = phi(x) . phi(x') (linear):
//   value_i = sum_j w_ij y'_j,   gradient_i = sum_j (y_i . y'_j + further_i further'_j) dw_ij / dx_i
// Forward is the value of queries from pooled keys. Backward is the gradient of queries from keys, and value and
// gradient of keys from queries; the queries' y is then the output gradient and `further` carries the gradient of the
// normaliser.
#pragma once

#include "models/ops/cuda/paired_rows.h"

namespace geosft::cuda {

// Row r of head s has index r * row_step + s * head_step in x [.., c], y [.., cv], further and offset [..]; further is
// 1 and offset is 0 if null. shift [items, heads, c] is subtracted from x, if it is given. Each head can have its own
// items: those of head s are s * ptr_step elements further on in `packed.ptr`.
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

// Row r of head s is paired with the rows col[rowptr[e]] … col[rowptr[e + 1] - 1] of the other side, with e = r + s *
// head_step, as far as they are in its item. rowptr null: with all rows of its item.
struct PrimalMaskRows {
  const int64_t* rowptr;
  const int64_t* col;
  int64_t entries, head_step;
};

// Results are null if not requested: value [.., cv], divided by the sum of weights if normalizer [..] is given
// (softmax: the normaliser is the logarithm of that sum; linear: it is that sum plus eps); gradient [.., c]. All are
// indexed by rows of the own side.
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
  // Working memory of linear attention: sums of phi(x') [further', y'] over tiles of the other side, [slots, heads, c,
  // cv + 1], and over its items, [items, heads, c, cv + 1].
  T* tile_sums;
  T* item_sums;

  PairPart part() const { return normalizer ? PairPart::kValue : (value ? PairPart::kBoth : PairPart::kGradient); }
};

// Transpose of the pooling: gradients `to` [rows, heads, width] of the rows that were pooled in groups of factor[s],
// from those of the pooled rows, pooled.x minus pooled.shift.
template <typename T>
struct PrimalUnpooling {
  PackedRows packed;
  int64_t heads;
  int width;
  const int64_t* factor;
  PrimalSide<T> pooled;
  T* to;
};

// Averages `from` [rows, heads, width] over groups of factor[s] rows of an item, into `to`, pooled rows of width
// `width` (only the steps and the items of `pooled` are used); the last group of an item may be shorter.
template <typename T>
struct PrimalPooling : PrimalUnpooling<T> {
  Accessor<const T> from;
};

// Sums x of a side, without its shift, over each item: to [items, heads, width]. Working memory: tile_sums [slots,
// heads, width], for tiles of kItemSumRows rows.
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

// Returns the shift of one channel of x for an item and head.
template <typename T>
GEOSFT_DEVICE T shift_of(const PrimalSide<T>& side, int64_t head, int64_t heads, int64_t item, int width, int channel) {
  return side.shift ? side.shift[(item * heads + head) * width + channel] : T(0);
}

// Returns x of a row of the batch, head and channel, minus its shift.
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

// Loads `count` rows of x or y from `first` on into a tile of whole Vec4, with zeros elsewhere.
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

// The own rows of a tile, and the item of the other side that they are paired with.
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

// The base of a kernel whose threads own a row of a head each. Tile has
//   Tiles, State                           the shared memory, with own_x and own_y, and what a thread keeps
//   begin(task, rows, head, thread, state) prepares the state of a thread
//   compute(block, task, rows, head, tiles, state)
//                                          called for blocks that own rows, once own_x and, with kOwnY, own_y are
//                                          loaded
template <class Tile, typename T, int Width, bool kOwnY>
struct PrimalTile {
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PrimalTask<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const int64_t head = block.y();
    const PrimalRows rows = primal_rows(task, block.x(), head);
    if (rows.own.begin >= rows.own.end) return;
    auto& tiles = block.template shared<typename Tile::Tiles>();
    typename Block::template PerThread<typename Tile::State> state(block);
    block.each([&](int thread) {
      load_shifted_x(task.own, task, tiles.own_x, Width, rows.own.item, rows.own.begin, rows.own_count(), head, thread);
      if constexpr (kOwnY) {
        load_y(task.own, task, tiles.own_y, Width, rows.own.begin, rows.own_count(), head, thread);
      }
      Tile::begin(task, rows, head, thread, state[thread]);
    });
    Tile::compute(block, task, rows, head, tiles, state);
  }
};

// For tiles of kOthers other rows: load(first, count, thread) loads a tile from row `first` on, and then
// meet(group, count, thread) is called for its groups of kGroup rows.
template <int kOthers, int kGroup, class Block, class Load, class Meet>
GEOSFT_DEVICE void for_other_rows(Block& block, const RowRange& other, const Load& load, const Meet& meet) {
  for (int64_t first = other.begin; first < other.end; first += kOthers) {
    const int count = static_cast<int>(other.end - first < kOthers ? other.end - first : kOthers);
    block.each([&](int thread) { load(first, count, thread); });
    block.each([&](int thread) {
      for (int group = 0; group < count; group += kGroup) meet(group, count, thread);
    });
  }
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
