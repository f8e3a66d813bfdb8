// SPDX-License-Identifier: Apache-2.0
// Defines the contiguous arrays that the kernels of primal_attention read and write. Forward and backward are
// computations between two sets of tokens, rows and columns, each with x and y, over pairs of weight w = exp(scale x .
// x' + offset + offset') (softmax) or w = phi(x) . phi(x') (linear):
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
struct PrimalTokens {
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

// Row r of head s is paired with the rows col[rowptr[e]] … col[rowptr[e + 1] - 1] of the columns, with e = r + s *
// head_step, as far as they are in its item. rowptr null: with all columns of its item.
struct PrimalMaskRows {
  const int64_t* rowptr;
  const int64_t* col;
  int64_t entries, head_step;
};

// Results are null if not requested: value [.., cv], divided by the sum of weights if normalizer [..] is given
// (softmax: the normaliser is the logarithm of that sum; linear: it is that sum plus eps); gradient [.., c]. All are
// indexed by rows.
template <typename T>
struct PrimalTask {
  PrimalTokens<T> row_tokens, column_tokens;
  int64_t heads;
  int c, cv;
  bool linear;
  T scale, eps;
  PrimalMaskRows mask;
  T* value;
  T* normalizer;
  T* gradient;
  // Working memory of linear attention: sums of phi(x') [further', y'] over tiles of columns, [blocks, heads, c,
  // cv + 1], and over their items, [items, heads, c, cv + 1].
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
  PrimalTokens<T> pooled;
  T* to;
};

// Averages `from` [rows, heads, width] over groups of factor[s] rows of an item, into `to`, pooled rows of width
// `width` (only the steps and the items of `pooled` are used); the last group of an item may be shorter.
template <typename T>
struct PrimalPooling : PrimalUnpooling<T> {
  Accessor<const T> from;
};

// Sums x of tokens, without their shift, over each item: to [items, heads, width]. Working memory: tile_sums [blocks,
// heads, width], for tiles of kItemSumRows rows.
inline constexpr int64_t kItemSumRows = 2048;
template <typename T>
struct PrimalItemSums {
  PrimalTokens<T> tokens;
  int64_t heads;
  int width;
  T* to;
  T* tile_sums;

  int64_t blocks() const { return tile_blocks(tokens.packed.rows, tokens.packed.items, kItemSumRows); }
};

// Returns the shift of one channel of x for an item and head.
template <typename T>
GEOSFT_DEVICE T shift_of(const PrimalTokens<T>& tokens, int64_t head, int64_t heads, int64_t item, int width,
                         int channel) {
  return tokens.shift ? tokens.shift[(item * heads + head) * width + channel] : T(0);
}

// Returns x of a row of the batch, head and channel, minus its shift.
template <typename T>
GEOSFT_DEVICE T shifted_x(const PrimalTokens<T>& tokens, int64_t row, int64_t head, int64_t heads, int64_t item,
                          int width, int channel) {
  return tokens.x.read(tokens.at(row, head) * width + channel) - shift_of(tokens, head, heads, item, width, channel);
}

template <typename T>
GEOSFT_DEVICE T further_of(const PrimalTokens<T>& tokens, int64_t row, int64_t head) {
  return tokens.further ? tokens.further[tokens.at(row, head)] : T(1);
}

template <typename T>
GEOSFT_DEVICE T offset_of(const PrimalTokens<T>& tokens, int64_t row, int64_t head) {
  return tokens.offset ? tokens.offset[tokens.at(row, head)] : T(0);
}

// Loads `count` rows of x or y from `first` on into a tile of whole Vec4, with zeros elsewhere.
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_shifted_x(const PrimalTokens<T>& tokens, const PrimalTask<T>& task,
                                  Vec4<T> (&tile)[Rows][Stride], int padded, int64_t item, int64_t first, int count,
                                  int64_t head, int thread) {
  tokens.x.visit([&](const auto* numbers) {
    for (int i = thread; i < Rows * padded; i += kThreads) {
      const int row = i / padded, channel = i % padded;
      T x = 0;
      if (row < count && channel < task.c) {
        x = widened(numbers[tokens.at(first + row, head) * task.c + channel]) -
            shift_of(tokens, head, task.heads, item, task.c, channel);
      }
      tile[row][channel / 4].v[channel % 4] = x;
    }
  });
}
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_y(const PrimalTokens<T>& tokens, const PrimalTask<T>& task, Vec4<T> (&tile)[Rows][Stride],
                          int padded, int64_t first, int count, int64_t head, int thread) {
  load_rows(tile, padded, tokens.y, first, count, tokens.row_step * task.cv, tokens.head_step * head * task.cv, task.cv,
            thread);
}

// The rows of a tile, and the columns of their item, which they are paired with.
struct PrimalSpan {
  PackedTile rows;
  RowRange columns;

  GEOSFT_DEVICE int row_count() const { return static_cast<int>(rows.end - rows.begin); }
};
template <typename T>
GEOSFT_DEVICE PrimalSpan primal_span(const PrimalTask<T>& task, int64_t block, int64_t head) {
  const PackedTile rows = packed_tile(task.row_tokens.rows(head), kThreads, block);
  return {rows, item_rows(task.column_tokens.rows(head), rows.item)};
}

// The base of a kernel with one row of a head per thread. Kernel has
//   Tiles, State                           the shared memory, with row_x and row_y, and what a thread keeps
//   begin(task, span, head, thread, state) prepares the state of a thread
//   compute(block, task, span, head, tiles, state)
//                                          called for blocks with rows, once row_x and, with kRowY, row_y are
//                                          loaded
template <class Kernel, typename T, int Width, bool kRowY>
struct PrimalAttentionKernel {
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PrimalTask<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const int64_t head = block.y();
    const PrimalSpan span = primal_span(task, block.x(), head);
    if (span.rows.begin >= span.rows.end) return;
    auto& tiles = block.template shared<typename Kernel::Tiles>();
    typename Block::template PerThread<typename Kernel::State> state(block);
    block.each([&](int thread) {
      load_shifted_x(task.row_tokens, task, tiles.row_x, Width, span.rows.item, span.rows.begin, span.row_count(), head,
                     thread);
      if constexpr (kRowY) {
        load_y(task.row_tokens, task, tiles.row_y, Width, span.rows.begin, span.row_count(), head, thread);
      }
      Kernel::begin(task, span, head, thread, state[thread]);
    });
    Kernel::compute(block, task, span, head, tiles, state);
  }
};

// For tiles of kColumns columns: load(first, count, thread) loads a tile from column `first` on, and then
// accumulate(group, count, thread) is called for its groups of kGroup columns.
template <int kColumns, int kGroup, class Block, class Load, class Accumulate>
GEOSFT_DEVICE void for_columns(Block& block, const RowRange& columns, const Load& load, const Accumulate& accumulate) {
  for (int64_t first = columns.begin; first < columns.end; first += kColumns) {
    const int count = static_cast<int>(columns.end - first < kColumns ? columns.end - first : kColumns);
    block.each([&](int thread) { load(first, count, thread); });
    block.each([&](int thread) {
      for (int group = 0; group < count; group += kGroup) accumulate(group, count, thread);
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
