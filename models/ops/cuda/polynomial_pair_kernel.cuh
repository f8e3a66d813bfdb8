// SPDX-License-Identifier: Apache-2.0
// Computes polynomial_attention pair by pair, for items that are too short for monomials, and under a causal mask for
// the rows of a chunk among themselves. The weights P(s) = sum_{t <= degree} s^t / t! are evaluated and never stored.
//
// As in attention_backward_kernel.cuh a block owns rows of one side, one row per thread, and iterates over those of the
// other: one thread computes each sum in a fixed order.
//
// Operations per pair: c + 3 degree + cv + 1 for a value, c + cv more for the gradient, at 128 per clock and
// multiprocessor; and 2 (c + cv) / 4 reads of 16 bytes from shared memory per thread, 4 clocks per warp each. With 8
// channels and degree 4 these take 25 of 32 clocks forward, so at most 13 % of the bound. Items are short, so this is
// not optimised further.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#include "models/ops/cuda/monomial_sum_kernel.cuh"

namespace geosft::cuda {

// The own rows of a tile, and the rows of the other side that any of them is paired with here. `joined`: the results
// already hold the contribution of the other rows of the item.
struct PairRows {
  PackedTile own;
  RowRange other;
  int64_t other_begin;  // of the item
  bool joined;

  GEOSFT_DEVICE int own_count() const { return static_cast<int>(own.end - own.begin); }
};
template <typename T>
GEOSFT_DEVICE PairRows pair_rows(const PolynomialTask<T>& task, int64_t slot) {
  const PackedTile own = packed_tile(task.own.rows, kThreads, slot);
  if (own.begin >= own.end) return {own, {0, 0}, 0, false};
  RowRange other = item_rows(task.other.rows, own.item);
  const int64_t begin = other.begin, first = begin + (own.begin - own.item_begin);
  const bool joined = by_monomials(task, own.item);
  if (task.reach == Reach::kBefore) other.end = clamped(begin + (own.end - own.item_begin), begin, other.end);
  if (task.reach == Reach::kAfter) other.begin = clamped(first, begin, other.end);
  if (!joined) return {own, other, begin, false};
  const int64_t chunk = begin + (own.begin - own.item_begin) / task.chunks.rows * task.chunks.rows;
  if (task.reach == Reach::kBefore) other.begin = clamped(chunk, begin, other.end);
  if (task.reach == Reach::kAfter) other.end = clamped(chunk + task.chunks.rows, other.begin, other.end);
  return {own, other, begin, true};
}

template <typename T, int Width, PairPart kPart>
class PairTile {
  static constexpr bool kValue = kPart != PairPart::kGradient, kGradient = kPart != PairPart::kValue;
  using Rows = PairedRows<T, Width>;
  using Sums = typename Rows::Sums;
  static constexpr int kChunks = Rows::kChunks, kGroup = Rows::kGroup, kOthers = Rows::kOthers, kInverses = 32;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PolynomialTask<T>;

  // Rows of own_x and own_y are padded by one Vec4: see ForwardTile.
  struct Tiles {
    Vec4<T> own_x[kThreads][kChunks + 1];
    Vec4<T> own_y[kGradient ? kThreads : 1][kChunks + 1];
    Vec4<T> x[kOthers][kChunks];
    Vec4<T> y[kOthers][kChunks];
    T further[kOthers];
    T inverse[kInverses];  // 1 / t
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const PairRows rows = pair_rows(task, block.x());
    if (rows.own.begin >= rows.own.end || (rows.joined && task.reach == Reach::kAll)) return;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    const int64_t head = block.y();
    block.each([&](int thread) {
      load_x(task.own, task, tiles.own_x, rows.own.begin, rows.own_count(), head, thread);
      if constexpr (kGradient) load_y(task.own, task, tiles.own_y, rows.own.begin, rows.own_count(), head, thread);
      begin(task, rows, head, thread, state[thread]);
      if (thread < kInverses) tiles.inverse[thread] = T(1) / static_cast<T>(thread > 0 ? thread : 1);
    });
    for (int64_t first = rows.other.begin; first < rows.other.end; first += kOthers) {
      const int count = static_cast<int>(rows.other.end - first < kOthers ? rows.other.end - first : kOthers);
      block.each([&](int thread) {
        load_x(task.other, task, tiles.x, first, count, head, thread);
        load_y(task.other, task, tiles.y, first, count, head, thread);
        const int64_t at = (first + thread) * task.heads + head;
        if (thread < kOthers) tiles.further[thread] = thread < count ? column_of(task.other, at, task.cv, 0) : T(0);
      });
      block.each([&](int thread) {
        for (int group = 0; group < count; group += kGroup)
          meet(task, rows, tiles, first, group, thread, state[thread]);
      });
    }
    block.each([&](int thread) { store(task, rows, head, thread, state[thread]); });
  }

 private:
  struct State {
    Vec4<T> value[kValue ? kChunks : 1];
    Vec4<T> gradient[kGradient ? kChunks : 1];
    T denominator, further;
  };

  template <int Count, int Stride>
  GEOSFT_DEVICE static void load_x(const PolynomialSide<T>& from, const Arguments& task, Vec4<T> (&to)[Count][Stride],
                                   int64_t first, int count, int64_t head, int thread) {
    load_rows(to, Width, from.x, first, count, task.heads * task.c, head * task.c, task.c, thread);
  }
  template <int Count, int Stride>
  GEOSFT_DEVICE static void load_y(const PolynomialSide<T>& from, const Arguments& task, Vec4<T> (&to)[Count][Stride],
                                   int64_t first, int count, int64_t head, int thread) {
    load_rows(to, Width, from.y, first, count, task.heads * task.cv, head * task.cv, task.cv, thread);
  }

  GEOSFT_DEVICE static void begin(const Arguments& task, const PairRows& rows, int64_t head, int thread, State& state) {
    if constexpr (kValue) Rows::clear(state.value);
    if constexpr (kGradient) Rows::clear(state.gradient);
    const int64_t row = rows.own.begin + thread;
    state.denominator = 0;
    state.further = kGradient && row < rows.own.end ? column_of(task.own, row * task.heads + head, task.cv, 0) : T(0);
  }

  // Returns whether a pair counts; own and other are rows of the batch.
  GEOSFT_DEVICE static bool related(Reach reach, const PairRows& rows, int64_t own, int64_t other) {
    if (own >= rows.own.end || other >= rows.other.end) return false;
    if (reach == Reach::kAll) return true;
    const int64_t own_place = own - rows.own.item_begin, other_place = other - rows.other_begin;
    return reach == Reach::kBefore ? other_place <= own_place : own_place <= other_place;
  }

  // Adds the pairs with other rows first + group ….
  GEOSFT_DEVICE static void meet(const Arguments& task, const PairRows& rows, const Tiles& tiles, int64_t first,
                                 int group, int thread, State& state) {
    T score[kGroup], slope[kGroup], weight[kGroup], derivative[kGroup];
    bool counts[kGroup];
    Rows::products(tiles.own_x[thread], tiles.x, group, score);
    if constexpr (kGradient) Rows::products(tiles.own_y[thread], tiles.y, group, slope);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) score[g] *= task.own.factor * task.other.factor;
    polynomials(score, task.degree, tiles.inverse, weight, derivative);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      counts[g] = related(task.reach, rows, rows.own.begin + thread, first + group + g);
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
  GEOSFT_DEVICE static void store(const Arguments& task, const PairRows& rows, int64_t head, int thread,
                                  const State& state) {
    const int64_t row = rows.own.begin + thread, at = row * task.heads + head;
    if (row >= rows.own.end) return;
    T share = 1;
    if (task.denominator) {
      const T total = state.denominator + (rows.joined ? task.denominator[at] : T(0));
      task.denominator[at] = total;
      share = rows.other.begin < rows.other.end ? T(1) / total : T(0);
    }
    if constexpr (kValue) put(state.value, share, rows.joined, share, task.value + at * task.cv, task.cv);
    if constexpr (kGradient) {
      const T factor = task.own.factor * task.other.factor;
      put(state.gradient, factor, rows.joined, T(1), task.gradient + at * task.c, task.c);
    }
  }
};

}  // namespace geosft::cuda
