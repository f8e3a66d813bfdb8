// SPDX-License-Identifier: Apache-2.0
// Evaluates row tokens against the sums of monomials over the column tokens (monomial_sum_kernel.cuh), forward and
// backward in linear time. With S the weighted sums for a row:
//   value_it = sum_a x_i^a S_at,   gradient_i = sum_a (d x_i^a / d x_i) sum_t Y_it S_at
//
// A block has a tile of tokens, Rows per thread, and their tables of monomials of low degree in shared memory; the sums
// are loaded in slabs. A monomial is u v, with u constant over a run and v an entry of the table, both in registers.
// The gradient of a run goes to u and to the entries v, and finally from the entries to the variables. The thread that
// has the token does all of this: no exchange, one order.
//
// Bounds in float32, relative to 128 multiply-adds per clock and multiprocessor, per monomial, rows of a warp and 8
// channels of values (9 columns). Forward, 4 rows: 40 instructions, 10 clocks; reading 9 sums and 4 entries from shared
// memory takes 13 clocks: 69 % of peak. Gradients also read and write slopes. Queries: 21 clocks for 4 rows vs. 11 of
// arithmetic (43 %), 15 for 2 rows vs. 5.5 (30 %); keys with dv: 15 vs. 10.5 (60 %). A sum is read once for all rows of
// a thread, but each row takes a column of two tables: 4 rows with 48 entries would leave two warps per multiprocessor
// of sm_80, and no block would fit on sm_86 or sm_89 (99 KB).
#pragma once

#include "models/ops/cuda/monomial_sum_kernel.cuh"

namespace geosft::cuda {

template <typename T, int Entries, int Rows, int Columns, PairPart kPart>
class MonomialKernel {
  static constexpr bool kValue = kPart != PairPart::kGradient, kGradient = kPart != PairPart::kValue;
  static constexpr int kTile = Rows * kThreads, kSlab = 128;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PolynomialTask<T>;

  // Table entries of the rows and the gradient of each entry, one column per token.
  struct Tiles {
    T table[Entries][kTile];
    T slope[kGradient ? Entries : 1][kTile];
    T sum[kSlab][Columns];
    uint8_t factor[kSlab * kMaxFactors];
    uint8_t recipe[Entries][2];
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const PackedTile tile = monomial_tile(task, block.x());
    if (tile.begin >= tile.end) return;
    const RowRange rows{tile.begin, tile.end};
    const int64_t head = block.y(), place = state_place(task, tile), columns = task.cv + 1;
    const int64_t monomials = place < 0 ? 0 : task.table.count;
    const T* const state = task.states + ((place < 0 ? 0 : place) * task.heads + head) * task.table.count * columns;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> threads(block);
    block.each([&](int thread) {
      for (int e = 1 + task.c + thread; e < task.table.entries; e += kThreads) {
        for (int factor = 0; factor < 2; ++factor) tiles.recipe[e][factor] = task.table.recipe[2 * e + factor];
      }
    });
    block.each([&](int thread) { make_table(task, rows, head, tiles, thread); });
    for (int first = 0; first < columns; first += Columns) {
      block.each([&](int thread) { begin(task, rows, head, first, thread, threads[thread]); });
      for (int64_t monomial = 0; monomial < monomials; monomial += kSlab) {
        const int count = static_cast<int>(monomials - monomial < kSlab ? monomials - monomial : kSlab);
        block.each([&](int thread) { load(task, state, monomial, count, first, tiles, thread); });
        block.each([&](int thread) { relate(task.table, tiles, count, thread, threads[thread]); });
      }
      if constexpr (kValue) {
        block.each([&](int thread) { store_value(task, rows, head, first, thread, threads[thread]); });
      }
    }
    if constexpr (kGradient) {
      block.each([&](int thread) { store_gradient(task, rows, head, tiles, thread); });
    }
  }

 private:
  struct State {
    T value[kValue ? Rows : 1][kValue ? Columns : 1];
    T y[kGradient ? Rows : 1][kGradient ? Columns : 1];
    T denominator[Rows];
  };

  GEOSFT_DEVICE static void make_table(const Arguments& task, const RowRange& rows, int64_t head, Tiles& tiles,
                                       int thread) {
    for (int column = thread; column < kTile; column += kThreads) {
      const int64_t row = rows.begin + column, at = (row * task.heads + head) * task.c;
      tiles.table[0][column] = 1;
      for (int t = 0; t < task.c; ++t) {
        tiles.table[1 + t][column] = row < rows.end ? task.row_tokens.x.read(at + t) * task.row_tokens.factor : T(0);
      }
      for (int e = 1 + task.c; e < task.table.entries; ++e) {
        tiles.table[e][column] = tiles.table[tiles.recipe[e][0]][column] * tiles.table[tiles.recipe[e][1]][column];
      }
      if constexpr (kGradient) {
        for (int e = 0; e < task.table.entries; ++e) tiles.slope[e][column] = 0;
      }
    }
  }

  // Clears the sums of the columns from `first` on and loads their y.
  GEOSFT_DEVICE static void begin(const Arguments& task, const RowRange& rows, int64_t head, int first, int thread,
                                  State& state) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int64_t row = rows.begin + thread + r * kThreads;
      if (first == 0) state.denominator[r] = 0;
      GEOSFT_UNROLL
      for (int t = 0; t < Columns; ++t) {
        if constexpr (kValue) state.value[r][t] = 0;
        if constexpr (kGradient) {
          state.y[r][t] =
              row < rows.end ? column_of(task.row_tokens, row * task.heads + head, task.cv, first + t) : T(0);
        }
      }
    }
  }

  // Loads the sums of `count` monomials, and the table entries that these are products of.
  GEOSFT_DEVICE static void load(const Arguments& task, const T* state, int64_t monomial, int count, int first,
                                 Tiles& tiles, int thread) {
    const int64_t columns = task.cv + 1;
    for (int i = thread; i < count * Columns; i += kThreads) {
      const int64_t at = monomial + i / Columns, column = first + i % Columns;
      tiles.sum[i / Columns][i % Columns] = column < columns ? state[at * columns + column] : T(0);
    }
    for (int i = thread; i < count * task.table.factors; i += kThreads) {
      tiles.factor[i] = task.table.factor[monomial * task.table.factors + i];
    }
  }

  GEOSFT_DEVICE static void relate(const MonomialTable<T>& table, Tiles& tiles, int count, int thread, State& state) {
    for (int at = 0; at < count;) {
      const uint8_t* const factor = tiles.factor + at * table.factors;
      const int entry = factor[table.factors - 1];
      const int length = table.entries - entry < count - at ? table.entries - entry : count - at;
      T u[Rows], slope[Rows];
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        u[r] = tiles.table[factor[0]][thread + r * kThreads];
        slope[r] = 0;
      }
      for (int f = 1; f < table.factors - 1 && factor[f] > 0; ++f) {
        GEOSFT_UNROLL
        for (int r = 0; r < Rows; ++r) u[r] *= tiles.table[factor[f]][thread + r * kThreads];
      }
      Read next = read(tiles, at, entry, thread);
      for (int i = 0; i < length; ++i) {
        const Read current = next;
        if (i + 1 < length) next = read(tiles, at + i + 1, entry + i + 1, thread);
        relate_monomial(current, tiles, entry + i, u, slope, thread, state);
      }
      if constexpr (kGradient) pass_on(tiles, factor, table.factors - 1, slope, thread);
      at += length;
    }
  }

  // Operands of a monomial from shared memory. They are read before the gradient of the previous monomial is stored,
  // because the compiler cannot rule out aliasing.
  struct Read {
    T sum[Columns], v[Rows], slope[kGradient ? Rows : 1];
  };
  GEOSFT_DEVICE static Read read(const Tiles& tiles, int at, int entry, int thread) {
    Read from{};
    GEOSFT_UNROLL
    for (int t = 0; t < Columns; ++t) from.sum[t] = tiles.sum[at][t];
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      from.v[r] = tiles.table[entry][thread + r * kThreads];
      if constexpr (kGradient) from.slope[r] = tiles.slope[entry][thread + r * kThreads];
    }
    return from;
  }

  // Accumulates the monomial u v, with v the table entry; `slope` accumulates the gradient of u.
  GEOSFT_DEVICE static void relate_monomial(const Read& from, Tiles& tiles, int entry, const T (&u)[Rows],
                                            T (&slope)[Rows], int thread, State& state) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if constexpr (kValue) {
        const T monomial = u[r] * from.v[r];
        GEOSFT_UNROLL
        for (int t = 0; t < Columns; ++t) state.value[r][t] += monomial * from.sum[t];
      }
      if constexpr (kGradient) {
        T product = 0;
        GEOSFT_UNROLL
        for (int t = 0; t < Columns; ++t) product += state.y[r][t] * from.sum[t];
        slope[r] += product * from.v[r];
        tiles.slope[entry][thread + r * kThreads] = from.slope[r] + product * u[r];
      }
    }
  }

  // Propagates the gradient of a product of entries to its factors.
  GEOSFT_DEVICE static void pass_on(Tiles& tiles, const uint8_t* factor, int factors, const T (&slope)[Rows],
                                    int thread) {
    for (int f = 0; f < factors && factor[f] > 0; ++f) {
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const int column = thread + r * kThreads;
        T product = slope[r];
        for (int g = 0; g < factors && factor[g] > 0; ++g) product *= g == f ? T(1) : tiles.table[factor[g]][column];
        tiles.slope[factor[f]][column] += product;
      }
    }
  }

  // If the state covers only the chunks before or after this one, the pair kernel follows and does the division.
  GEOSFT_DEVICE static void store_value(const Arguments& task, const RowRange& rows, int64_t head, int first,
                                        int thread, State& state) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int64_t row = rows.begin + thread + r * kThreads, at = row * task.heads + head;
      if (first == 0) state.denominator[r] = state.value[r][0];
      if (row >= rows.end) continue;
      if (first == 0 && task.denominator) task.denominator[at] = state.denominator[r];
      const bool divide = task.denominator && task.reach == Reach::kAll;
      const T share = divide ? T(1) / state.denominator[r] : T(1);
      GEOSFT_UNROLL
      for (int t = 0; t < Columns; ++t) {
        const int column = first + t;
        if (column > 0 && column <= task.cv) task.value[at * task.cv + column - 1] = state.value[r][t] * share;
      }
    }
  }

  // Propagates gradients from the entries of the table, highest degree first, to the variables.
  GEOSFT_DEVICE static void store_gradient(const Arguments& task, const RowRange& rows, int64_t head, Tiles& tiles,
                                           int thread) {
    for (int column = thread; rows.begin + column < rows.end && column < kTile; column += kThreads) {
      for (int e = task.table.entries - 1; e > task.c; --e) {
        const int left = tiles.recipe[e][0], right = tiles.recipe[e][1];
        const T slope = tiles.slope[e][column];
        tiles.slope[left][column] += slope * tiles.table[right][column];
        tiles.slope[right][column] += slope * tiles.table[left][column];
      }
      T* const to = task.gradient + ((rows.begin + column) * task.heads + head) * task.c;
      for (int t = 0; t < task.c; ++t) to[t] = tiles.slope[1 + t][column] * task.row_tokens.factor;
    }
  }
};

}  // namespace geosft::cuda
