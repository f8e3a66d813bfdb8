// SPDX-License-Identifier: Apache-2.0
// Computes sums of monomials times columns over tokens: S_at = sum_j x_j^a Y_jt for each chunk of tokens of an item,
// then, in chunk order and in double precision, over all chunks or over those before or after each.
//
// A block has a chunk, a tile of monomials and a tile of columns. Tokens pass through shared memory as tables of the
// monomials of low degree. A thread computes four monomials of a token in registers, as products of entries of its
// table, and adds them times all columns of the tile. If there are few monomials, groups of threads split the tokens.
//
// Bound, in float32: 128 multiply-adds per clock and multiprocessor. For each (token, four monomials) of a warp with 8
// channels of values: 36 multiply-adds and 4 products, 10 clocks; but 8 entries of the table and 9 columns are read,
// and shared memory delivers 4 bytes to each of 32 threads per clock: 17 clocks, so 53 % of the peak multiply-adds.
// With 16 channels, 4 factors: 33 clocks for 80 instructions, 52 %. (Nine or seventeen columns leave tensor cores, in
// tf32 of three parts, little advantage: the sums would have to be padded to 16 or 24 columns and go through
// fragments.)
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "models/ops/cuda/polynomial_arrays.h"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

// Element `column` of Y of a row: column 0 is `further`, the others are y.
template <typename T>
GEOSFT_DEVICE T column_of(const PolynomialTokens<T>& tokens, int64_t row_and_head, int cv, int column) {
  if (column == 0) return tokens.further ? tokens.further[row_and_head] : T(1);
  return column <= cv ? tokens.y.read(row_and_head * cv + column - 1) : T(0);
}

inline constexpr int kSumThreads = 128, kSumEach = 4, kMaxSumStep = 128;
inline constexpr int kSumTableNumbers = 32 * (kLargestTable + 1);  // in shared memory: at least 32 tokens

template <typename T, int Columns, int Factors>
class MonomialSumKernel {
 public:
  static constexpr int kBlockThreads = kSumThreads;
  using Arguments = PolynomialTask<T>;

  struct Tiles {
    T table[kSumTableNumbers];
    T y[kMaxSumStep][Columns];
    T sum[kSumEach * Columns][kSumThreads];
    uint8_t recipe[kLargestTable][2];
  };

  static int64_t blocks_a_chunk(const Arguments& task) { return task.sums.tiles * ((task.cv + Columns) / Columns); }

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const int64_t column_tiles = (task.cv + Columns) / Columns, pieces = task.sums.tiles * column_tiles;
    const int64_t place = block.x() / pieces, piece = block.x() % pieces;
    const RowRange rows = chunk_at(task, place).rows;
    if (rows.begin >= rows.end) return;
    const Work work{block.y(), piece / column_tiles * task.sums.groups * kSumEach,
                    static_cast<int>(piece % column_tiles) * Columns};
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    block.each([&](int thread) { begin(task, work, tiles, thread, state[thread]); });
    for (int64_t first = rows.begin; first < rows.end; first += task.sums.step) {
      const int count = static_cast<int>(rows.end - first < task.sums.step ? rows.end - first : task.sums.step);
      block.each([&](int thread) { load(task, work, tiles, first, count, thread); });
      int from = 1 + task.c;
      for (int degree = 2; degree <= task.table.table_degree; ++degree) {
        const int to = from * (task.c + degree) / degree;
        block.each([&](int thread) { multiply(tiles, stride_of(task), from, to, count, thread); });
        from = to;
      }
      block.each([&](int thread) { add(task, tiles, count, thread, state[thread]); });
    }
    T* const to = task.states + (place * task.heads + work.head) * task.table.count * (task.cv + 1);
    block.each([&](int thread) { store(task, work, tiles, to, thread); });
  }

 private:
  // The table entries that a thread's monomials are products of.
  struct State {
    int factor[kSumEach][Factors];
  };
  struct Work {
    int64_t head, first_monomial;
    int first_column;
  };

  // Stride between the tables of two tokens: odd, which spreads tokens over the banks.
  GEOSFT_DEVICE static int stride_of(const Arguments& task) { return task.table.entries | 1; }

  GEOSFT_DEVICE static void begin(const Arguments& task, const Work& work, Tiles& tiles, int thread, State& state) {
    GEOSFT_UNROLL
    for (int k = 0; k < kSumEach; ++k) {
      const int64_t monomial = work.first_monomial + k * task.sums.groups + thread % task.sums.groups;
      GEOSFT_UNROLL
      for (int f = 0; f < Factors; ++f) {
        state.factor[k][f] = monomial < task.table.count ? task.table.factor[monomial * Factors + f] : 0;
      }
    }
    for (int i = 0; i < kSumEach * Columns; ++i) tiles.sum[i][thread] = 0;
    for (int e = 1 + task.c + thread; e < task.table.entries; e += kSumThreads) {
      for (int factor = 0; factor < 2; ++factor) tiles.recipe[e][factor] = task.table.recipe[2 * e + factor];
    }
  }

  // Loads the constant and the variables of tokens, and their columns.
  GEOSFT_DEVICE static void load(const Arguments& task, const Work& work, Tiles& tiles, int64_t first, int count,
                                 int thread) {
    const PolynomialTokens<T>& from = task.column_tokens;
    const int width = task.c + 1, stride = stride_of(task);
    for (int i = thread; i < count * width; i += kSumThreads) {
      const int token = i / width, entry = i % width;
      const int64_t at = (first + token) * task.heads + work.head;
      tiles.table[token * stride + entry] = entry == 0 ? T(1) : from.x.read(at * task.c + entry - 1) * from.factor;
    }
    for (int i = thread; i < count * Columns; i += kSumThreads) {
      const int64_t at = (first + i / Columns) * task.heads + work.head;
      tiles.y[i / Columns][i % Columns] = column_of(from, at, task.cv, work.first_column + i % Columns);
    }
  }

  // Computes entries from … to - 1, of one degree, for all tokens.
  GEOSFT_DEVICE static void multiply(Tiles& tiles, int stride, int from, int to, int count, int thread) {
    const int entries = to - from;
    for (int i = thread; i < count * entries; i += kSumThreads) {
      T* const table = tiles.table + i / entries * stride;
      const int entry = from + i % entries;
      table[entry] = table[tiles.recipe[entry][0]] * table[tiles.recipe[entry][1]];
    }
  }

  // Sums the thread's tokens in registers first: two short sums have less rounding error than a long one.
  GEOSFT_DEVICE static void add(const Arguments& task, Tiles& tiles, int count, int thread, const State& state) {
    T sum[kSumEach][Columns] = {};
    const int groups = task.sums.groups, stride = stride_of(task);
    for (int token = thread / groups; token < count; token += kSumThreads / groups) {
      const T* const table = tiles.table + token * stride;
      T monomial[kSumEach];
      GEOSFT_UNROLL
      for (int k = 0; k < kSumEach; ++k) {
        monomial[k] = table[state.factor[k][0]];
        GEOSFT_UNROLL
        for (int f = 1; f < Factors; ++f) monomial[k] *= table[state.factor[k][f]];
      }
      GEOSFT_UNROLL
      for (int t = 0; t < Columns; ++t) {
        const T y = tiles.y[token][t];
        GEOSFT_UNROLL
        for (int k = 0; k < kSumEach; ++k) sum[k][t] += monomial[k] * y;
      }
    }
    GEOSFT_UNROLL
    for (int k = 0; k < kSumEach; ++k) {
      GEOSFT_UNROLL
      for (int t = 0; t < Columns; ++t) tiles.sum[k * Columns + t][thread] += sum[k][t];
    }
  }

  // Adds the sums of the threads that split the tokens, in thread order.
  GEOSFT_DEVICE static void store(const Arguments& task, const Work& work, const Tiles& tiles, T* to, int thread) {
    const int groups = task.sums.groups, columns = task.cv + 1;
    for (int i = thread; i < groups * kSumEach * Columns; i += kSumThreads) {
      const int number = i / Columns, column = work.first_column + i % Columns;
      const int64_t monomial = work.first_monomial + number;
      if (monomial >= task.table.count || column >= columns) continue;
      const T(&sums)[kSumThreads] = tiles.sum[number / groups * Columns + i % Columns];
      T total = 0;
      for (int part = number % groups; part < kSumThreads; part += groups) total += sums[part];
      to[monomial * columns + column] = total;
    }
  }
};

// Combines the states of the chunks, one element per thread, in chunk order: all are summed into the first, or each
// becomes the sum of those before or after it. The results are multiplied by the weights of the monomials.
template <typename T>
class StateJoinKernel : public UnsharedKernel<PolynomialTask<T>, 256> {
 public:
  static int64_t blocks_a_chunk(const PolynomialTask<T>& task) {
    return (task.table.count * (task.cv + 1) + StateJoinKernel::kBlockThreads - 1) / StateJoinKernel::kBlockThreads;
  }

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PolynomialTask<T>& task) {
    const int64_t size = task.table.count * (task.cv + 1),
                  pieces = (size + StateJoinKernel::kBlockThreads - 1) / StateJoinKernel::kBlockThreads;
    const Chunk chunk = chunk_at(task, block.x() / pieces);
    if (chunk.rows.begin >= chunk.rows.end || chunk.number > 0) return;
    const int64_t chunks = chunk_count(item_rows(task.column_tokens.rows, chunk.item), task.chunks),
                  step = task.heads * size;
    T* const first = task.states + (block.x() / pieces * task.heads + block.y()) * size;
    block.each([&](int thread) {
      const int64_t at = block.x() % pieces * StateJoinKernel::kBlockThreads + thread;
      if (at < size) join(task.reach, first + at, chunks, step, task.table.weight[at / (task.cv + 1)]);
    });
  }

 private:
  static constexpr int kAhead = 8;  // chunks that are loaded before they are added

  GEOSFT_DEVICE static void join(Reach reach, T* numbers, int64_t chunks, int64_t step, T weight) {
    const int64_t sign = reach == Reach::kAfter ? -1 : 1;
    T* const begin = reach == Reach::kAfter ? numbers + (chunks - 1) * step : numbers;
    double sum = 0;
    for (int64_t n = 0; n < chunks; n += kAhead) {
      T next[kAhead];
      GEOSFT_UNROLL
      for (int k = 0; k < kAhead; ++k) next[k] = n + k < chunks ? begin[sign * (n + k) * step] : T(0);
      GEOSFT_UNROLL
      for (int k = 0; k < kAhead; ++k) {
        if (reach != Reach::kAll && n + k < chunks) {
          begin[sign * (n + k) * step] = static_cast<T>(sum * static_cast<double>(weight));
        }
        sum += static_cast<double>(next[k]);
      }
    }
    if (reach == Reach::kAll) *numbers = static_cast<T>(sum * static_cast<double>(weight));
  }
};

}  // namespace geosft::cuda
