// SPDX-License-Identifier: Apache-2.0
// Computes polynomial_attention pair by pair, for items that are too short for monomials, and under a causal mask for
// the rows of a chunk among themselves. The weights P(s) = sum_{t <= degree} s^t / t! are evaluated and never stored.
//
// As in attention_backward_kernel.cuh a block has rows, one per thread, and iterates over their columns: one thread
// computes each sum in a fixed order.
//
// Operations per pair: c + 3 degree + cv + 1 for a value, c + cv more for the gradient, at 128 per clock and
// multiprocessor; and 2 (c + cv) / 4 reads of 16 bytes from shared memory per thread, 4 clocks per warp each. With 8
// channels and degree 4 these take 25 of 32 clocks forward, so at most 13 % of the bound. Items are short, so this is
// not optimised further.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#include "models/ops/cuda/monomial_sum_kernel.cuh"

namespace geosft::cuda {

// The rows of a tile, and the columns that any of them is paired with here. `joined`: the results
// already hold the contribution of the other columns of the item.
struct PairSpan {
  PackedTile rows;
  RowRange columns;
  int64_t column_begin;  // of the item
  bool joined;

  GEOSFT_DEVICE int row_count() const { return static_cast<int>(rows.end - rows.begin); }
};
template <typename T>
GEOSFT_DEVICE PairSpan pair_span(const PolynomialTask<T>& task, int64_t block) {
  const PackedTile rows = packed_tile(task.row_tokens.rows, kThreads, block);
  if (rows.begin >= rows.end) return {rows, {0, 0}, 0, false};
  RowRange columns = item_rows(task.column_tokens.rows, rows.item);
  const int64_t begin = columns.begin, first = begin + (rows.begin - rows.item_begin);
  const bool joined = by_monomials(task, rows.item);
  if (task.reach == Reach::kBefore) columns.end = clamped(begin + (rows.end - rows.item_begin), begin, columns.end);
  if (task.reach == Reach::kAfter) columns.begin = clamped(first, begin, columns.end);
  if (!joined) return {rows, columns, begin, false};
  const int64_t chunk = begin + (rows.begin - rows.item_begin) / task.chunks.rows * task.chunks.rows;
  if (task.reach == Reach::kBefore) columns.begin = clamped(chunk, begin, columns.end);
  if (task.reach == Reach::kAfter) columns.end = clamped(chunk + task.chunks.rows, columns.begin, columns.end);
  return {rows, columns, begin, true};
}

template <typename T, int Width, PairPart kPart>
class PairKernel {
  static constexpr bool kValue = kPart != PairPart::kGradient, kGradient = kPart != PairPart::kValue;
  using Rows = PairedRows<T, Width>;
  using Sums = typename Rows::Sums;
  static constexpr int kChunks = Rows::kChunks, kGroup = Rows::kGroup, kColumns = Rows::kColumns, kInverses = 32;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PolynomialTask<T>;

  // Rows of row_x and row_y are padded by one Vec4: see ForwardKernel.
  struct Tiles {
    Vec4<T> row_x[kThreads][kChunks + 1];
    Vec4<T> row_y[kGradient ? kThreads : 1][kChunks + 1];
    Vec4<T> x[kColumns][kChunks];
    Vec4<T> y[kColumns][kChunks];
    T further[kColumns];
    T inverse[kInverses];  // 1 / t
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const PairSpan span = pair_span(task, block.x());
    if (span.rows.begin >= span.rows.end || (span.joined && task.reach == Reach::kAll)) return;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    const int64_t head = block.y();
    block.each([&](int thread) {
      load_x(task.row_tokens, task, tiles.row_x, span.rows.begin, span.row_count(), head, thread);
      if constexpr (kGradient)
        load_y(task.row_tokens, task, tiles.row_y, span.rows.begin, span.row_count(), head, thread);
      begin(task, span, head, thread, state[thread]);
      if (thread < kInverses) tiles.inverse[thread] = T(1) / static_cast<T>(thread > 0 ? thread : 1);
    });
    for (int64_t first = span.columns.begin; first < span.columns.end; first += kColumns) {
      const int count = static_cast<int>(span.columns.end - first < kColumns ? span.columns.end - first : kColumns);
      block.each([&](int thread) {
        load_x(task.column_tokens, task, tiles.x, first, count, head, thread);
        load_y(task.column_tokens, task, tiles.y, first, count, head, thread);
        const int64_t at = (first + thread) * task.heads + head;
        if (thread < kColumns)
          tiles.further[thread] = thread < count ? column_of(task.column_tokens, at, task.cv, 0) : T(0);
      });
      block.each([&](int thread) {
        for (int group = 0; group < count; group += kGroup)
          accumulate(task, span, tiles, first, group, thread, state[thread]);
      });
    }
    block.each([&](int thread) { store(task, span, head, thread, state[thread]); });
  }

 private:
  struct State {
    Vec4<T> value[kValue ? kChunks : 1];
    Vec4<T> gradient[kGradient ? kChunks : 1];
    T denominator, further;
  };

  template <int Count, int Stride>
  GEOSFT_DEVICE static void load_x(const PolynomialTokens<T>& from, const Arguments& task, Vec4<T> (&to)[Count][Stride],
                                   int64_t first, int count, int64_t head, int thread) {
    load_rows(to, Width, from.x, first, count, task.heads * task.c, head * task.c, task.c, thread);
  }
  template <int Count, int Stride>
  GEOSFT_DEVICE static void load_y(const PolynomialTokens<T>& from, const Arguments& task, Vec4<T> (&to)[Count][Stride],
                                   int64_t first, int count, int64_t head, int thread) {
    load_rows(to, Width, from.y, first, count, task.heads * task.cv, head * task.cv, task.cv, thread);
  }

  GEOSFT_DEVICE static void begin(const Arguments& task, const PairSpan& span, int64_t head, int thread, State& state) {
    if constexpr (kValue) Rows::clear(state.value);
    if constexpr (kGradient) Rows::clear(state.gradient);
    const int64_t row = span.rows.begin + thread;
    state.denominator = 0;
    state.further =
        kGradient && row < span.rows.end ? column_of(task.row_tokens, row * task.heads + head, task.cv, 0) : T(0);
  }

  // Returns whether a pair counts; row and column are indices in the batch.
  GEOSFT_DEVICE static bool related(Reach reach, const PairSpan& span, int64_t row, int64_t column) {
    if (row >= span.rows.end || column >= span.columns.end) return false;
    if (reach == Reach::kAll) return true;
    const int64_t row_place = row - span.rows.item_begin, column_place = column - span.column_begin;
    return reach == Reach::kBefore ? column_place <= row_place : row_place <= column_place;
  }

  // Adds the pairs with columns first + group ….
  GEOSFT_DEVICE static void accumulate(const Arguments& task, const PairSpan& span, const Tiles& tiles, int64_t first,
                                       int group, int thread, State& state) {
    T score[kGroup], slope[kGroup], weight[kGroup], derivative[kGroup];
    bool counts[kGroup];
    Rows::products(tiles.row_x[thread], tiles.x, group, score);
    if constexpr (kGradient) Rows::products(tiles.row_y[thread], tiles.y, group, slope);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) score[g] *= task.row_tokens.factor * task.column_tokens.factor;
    polynomials(score, task.degree, tiles.inverse, weight, derivative);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      counts[g] = related(task.reach, span, span.rows.begin + thread, first + group + g);
      const T further = tiles.further[group + g];
      if constexpr (kGradient) slope[g] = (slope[g] + state.further * further) * derivative[g];
      if (kPart == PairPart::kValue && counts[g]) state.denominator += weight[g] * further;
    }
    if constexpr (kValue) Rows::add(weight, counts, tiles.y, group, state.value);
    if constexpr (kGradient) Rows::add(slope, counts, tiles.x, group, state.gradient);
  }

  // Computes P(s) and P'(s), which is the same sum with one term less.
  GEOSFT_DEVICE static void polynomials(const T (&score)[kGroup], int64_t degree, const T (&inverse)[kInverses],
                                        T (&value)[kGroup], T (&derivative)[kGroup]) {
    T term[kGroup];
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      term[g] = value[g] = 1;
      derivative[g] = 0;
    }
    for (int t = 1; t <= static_cast<int>(degree); ++t) {
      const T share = t < kInverses ? inverse[t] : T(1) / static_cast<T>(t);
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        derivative[g] = value[g];
        term[g] *= score[g] * share;
        value[g] += term[g];
      }
    }
  }

  // to = factor * sum, plus `before` times the old value if `joined`.
  GEOSFT_DEVICE static void put(const Sums& sum, T factor, bool joined, T before, T* to, int width) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        const int channel = chunk * 4 + t;
        if (channel >= width) continue;
        to[channel] = sum[chunk].v[t] * factor + (joined ? to[channel] * before : T(0));
      }
    }
  }

  // Sums of monomials in the results, if any, are not divided yet.
  GEOSFT_DEVICE static void store(const Arguments& task, const PairSpan& span, int64_t head, int thread,
                                  const State& state) {
    const int64_t row = span.rows.begin + thread, at = row * task.heads + head;
    if (row >= span.rows.end) return;
    T share = 1;
    if (task.denominator) {
      const T total = state.denominator + (span.joined ? task.denominator[at] : T(0));
      task.denominator[at] = total;
      share = span.columns.begin < span.columns.end ? T(1) / total : T(0);
    }
    if constexpr (kValue) put(state.value, share, span.joined, share, task.value + at * task.cv, task.cv);
    if constexpr (kGradient) {
      const T factor = task.row_tokens.factor * task.column_tokens.factor;
      put(state.gradient, factor, span.joined, T(1), task.gradient + at * task.c, task.c);
    }
  }
};

}  // namespace geosft::cuda
