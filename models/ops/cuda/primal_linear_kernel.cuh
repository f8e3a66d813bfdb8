// SPDX-License-Identifier: Apache-2.0
// Computes the linear attention of primal_attention, phi = elu + 1: sums of phi(x') [further', y'] over tiles of
// columns, combined in tile order for each item, then the results of the rows from these sums.
//
// Bound, in float32: c (cv + 1) multiply-adds per column and as many per row, twice that for value
// and gradient, at 128 per clock and multiprocessor. A thread of a sum reads five numbers from shared memory for four
// multiply-adds, so half of that; heads are so narrow (at most 32 x 32 numbers) that loading the rows takes as long.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

// phi(x) = elu(x) + 1 and its derivative. elu itself would lose digits for x far below 0.
template <typename T>
GEOSFT_DEVICE T linear_feature(T x) {
  return x > 0 ? x + 1 : exp_below_zero(x);
}
template <typename T>
GEOSFT_DEVICE T linear_slope(T x) {
  return x > 0 ? T(1) : exp_below_zero(x);
}

// Column 0 of Y is the further one.
template <typename T>
GEOSFT_DEVICE T linear_column(const PrimalTask<T>& task, const PrimalTokens<T>& tokens, int64_t row, int64_t head,
                              int column) {
  if (column == 0) return further_of(tokens, row, head);
  return column <= task.cv ? tokens.y.read(tokens.at(row, head) * task.cv + column - 1) : T(0);
}

// Sums over a tile of rows. A block has 32 channels and 32 columns of the sums, 4 elements per thread.
template <typename T>
class PrimalTileSumKernel {
 public:
  static constexpr int kBlockThreads = 256, kEach = 4, kPieceSize = 32, kRows = 256, kStep = 32;
  struct Tiles {
    T x[kStep][kPieceSize];
    T y[kStep][kPieceSize];
  };
  using Arguments = PrimalTask<T>;

  static int64_t channel_tiles(const Arguments& task) { return (task.c + kPieceSize - 1) / kPieceSize; }
  static int64_t pieces(const Arguments& task) { return channel_tiles(task) * (task.cv / kPieceSize + 1); }
  static int64_t blocks(const PackedRows& rows) { return tile_blocks(rows.rows, rows.items, kRows); }

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const int64_t columns = task.cv / kPieceSize + 1, all = (task.c + kPieceSize - 1) / kPieceSize * columns;
    const int64_t tile = block.x() / all, head = block.y();
    const PackedTile rows = packed_tile(task.column_tokens.rows(head), kRows, tile);
    if (rows.begin >= rows.end) return;
    const Piece piece{head, static_cast<int>(block.x() % all / columns) * kPieceSize,
                      static_cast<int>(block.x() % all % columns) * kPieceSize};
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    block.each([&](int thread) {
      for (int k = 0; k < kEach; ++k) state[thread].sum[k] = 0;
    });
    for (int64_t first = rows.begin; first < rows.end; first += kStep) {
      block.each([&](int thread) { load(task, rows, piece, tiles, first, thread); });
      block.each([&](int thread) { add(tiles, thread, state[thread]); });
    }
    block.each([&](int thread) {
      const int channel = piece.channel + thread / (kPieceSize / kEach);
      T* const to =
          task.tile_sums + ((tile * task.heads + head) * task.c + channel) * (static_cast<int64_t>(task.cv) + 1);
      for (int k = 0; k < kEach; ++k) {
        const int column = piece.column + thread % (kPieceSize / kEach) * kEach + k;
        if (channel < task.c && column <= task.cv) to[column] = state[thread].sum[k];
      }
    });
  }

 private:
  struct State {
    T sum[kEach];
  };
  struct Piece {
    int64_t head;
    int channel, column;
  };

  GEOSFT_DEVICE static void load(const Arguments& task, const PackedTile& rows, const Piece& piece, Tiles& tiles,
                                 int64_t first, int thread) {
    for (int i = thread; i < kStep * kPieceSize; i += kBlockThreads) {
      const int64_t row = first + i / kPieceSize;
      const int channel = piece.channel + i % kPieceSize, column = piece.column + i % kPieceSize;
      const bool there = row < rows.end;
      tiles.x[i / kPieceSize][i % kPieceSize] =
          there && channel < task.c
              ? linear_feature(shifted_x(task.column_tokens, row, piece.head, task.heads, rows.item, task.c, channel))
              : T(0);
      tiles.y[i / kPieceSize][i % kPieceSize] =
          there ? linear_column(task, task.column_tokens, row, piece.head, column) : T(0);
    }
  }

  GEOSFT_DEVICE static void add(const Tiles& tiles, int thread, State& state) {
    const int channel = thread / (kPieceSize / kEach), column = thread % (kPieceSize / kEach) * kEach;
    for (int row = 0; row < kStep; ++row) {
      const T x = tiles.x[row][channel];
      GEOSFT_UNROLL
      for (int k = 0; k < kEach; ++k) state.sum[k] += x * tiles.y[row][column + k];
    }
  }
};

// Adds the tiles of an item in order, one element of its sums per thread.
template <typename T>
struct PrimalItemJoinKernel : UnsharedKernel<PrimalTask<T>, 256> {
  static int64_t pieces(const PrimalTask<T>& task) {
    return (static_cast<int64_t>(task.c) * (task.cv + 1) + PrimalItemJoinKernel::kBlockThreads - 1) /
           PrimalItemJoinKernel::kBlockThreads;
  }

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PrimalTask<T>& task) {
    const int64_t size = static_cast<int64_t>(task.c) * (task.cv + 1),
                  all = (size + PrimalItemJoinKernel::kBlockThreads - 1) / PrimalItemJoinKernel::kBlockThreads;
    const int64_t item = block.x() / all, head = block.y();
    const PackedRows packed = task.column_tokens.rows(head);
    constexpr int64_t kRows = PrimalTileSumKernel<T>::kRows;
    const RowRange rows = item_rows(packed, item);
    const int64_t first = first_block(packed, kRows, item), last = first + (rows.end - rows.begin + kRows - 1) / kRows;
    block.each([&](int thread) {
      const int64_t number = block.x() % all * PrimalItemJoinKernel::kBlockThreads + thread;
      if (number >= size) return;
      T sum = 0;
      for (int64_t tile = first; tile < last; ++tile) sum += task.tile_sums[(tile * task.heads + head) * size + number];
      task.item_sums[(item * task.heads + head) * size + number] = sum;
    });
  }
};

// Computes rows, one per thread, looping over the channels of their item's sums.
template <typename T, int Width, PairPart kPart>
class PrimalLinearKernel
    : public PrimalAttentionKernel<PrimalLinearKernel<T, Width, kPart>, T, Width, kPart != PairPart::kValue> {
  using Rows = PairedRows<T, Width>;
  static constexpr bool kForward = kPart == PairPart::kValue, kValue = kPart != PairPart::kGradient;
  static constexpr bool kGradient = kPart != PairPart::kValue;
  static constexpr int kChunks = Rows::kChunks, kColumns = Rows::kColumns;

 public:
  struct Tiles {
    Vec4<T> row_x[kThreads][kChunks + 1];
    Vec4<T> row_y[kGradient ? kThreads : 1][kChunks + 1];
    Vec4<T> sums[kColumns][kChunks];
    T further[kColumns];
  };
  struct State {
    typename Rows::Sums value;
    T total, further;
  };

  GEOSFT_DEVICE static void begin(const PrimalTask<T>& task, const PrimalSpan& span, int64_t head, int thread,
                                  State& state) {
    Rows::clear(state.value);
    state.total = 0;
    const bool there = kGradient && thread < span.row_count();
    state.further = there ? further_of(task.row_tokens, span.rows.begin + thread, head) : T(0);
  }
  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const PrimalTask<T>& task, const PrimalSpan& span, int64_t head,
                                    Tiles& tiles, States& state) {
    for (int first = 0; first < task.c; first += kColumns) {
      block.each([&](int thread) { load_sums(task, span.rows.item, tiles, head, first, thread); });
      block.each([&](int thread) {
        if (thread < span.row_count()) accumulate(task, span, tiles, head, first, thread, state[thread]);
      });
    }
    if constexpr (kValue) {
      block.each([&](int thread) {
        if (thread < span.row_count()) store(task, span, head, thread, state[thread]);
      });
    }
  }

 private:
  GEOSFT_DEVICE static void load_sums(const PrimalTask<T>& task, int64_t item, Tiles& tiles, int64_t head, int first,
                                      int thread) {
    const int64_t columns = task.cv + 1;
    const T* const sums = task.item_sums + (item * task.heads + head) * task.c * columns;
    const int count = task.c - first < kColumns ? task.c - first : kColumns;
    load_rows(tiles.sums, Width, Accessor<const T>{sums, StorageType::opmath}, first, count, columns, 1, task.cv,
              thread);
    if (thread < kColumns) tiles.further[thread] = thread < count ? sums[(first + thread) * columns] : T(0);
  }

  GEOSFT_DEVICE static void accumulate(const PrimalTask<T>& task, const PrimalSpan& span, const Tiles& tiles,
                                       int64_t head, int first, int thread, State& state) {
    for (int number = 0; number < kColumns && first + number < task.c; ++number) {
      const int channel = first + number;
      const T x = tiles.row_x[thread][channel / 4].v[channel % 4], feature = linear_feature(x);
      if constexpr (kForward) state.total += feature * tiles.further[number];
      T slope = state.further * tiles.further[number];
      GEOSFT_UNROLL
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) {
          if constexpr (kValue) state.value[chunk].v[t] += feature * tiles.sums[number][chunk].v[t];
          if constexpr (kGradient) slope += tiles.row_y[thread][chunk].v[t] * tiles.sums[number][chunk].v[t];
        }
      }
      if constexpr (kGradient) {
        const int64_t at = task.row_tokens.at(span.rows.begin + thread, head);
        task.gradient[at * task.c + channel] = slope * linear_slope(x);
      }
    }
  }

  GEOSFT_DEVICE static void store(const PrimalTask<T>& task, const PrimalSpan& span, int64_t head, int thread,
                                  const State& state) {
    const int64_t at = task.row_tokens.at(span.rows.begin + thread, head);
    T share = 1;
    if constexpr (kForward) {
      const T total = span.columns.begin < span.columns.end ? state.total + task.eps : T(0);
      task.normalizer[at] = total;
      share = safe_reciprocal(total);
    }
    put_sums(state.value, share, task.value + at * task.cv, task.cv);
  }
};

}  // namespace geosft::cuda
