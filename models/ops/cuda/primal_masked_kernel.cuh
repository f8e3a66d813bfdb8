// SPDX-License-Identifier: Apache-2.0
// Computes the softmax of primal_attention over the pairs of a mask, one row per thread: each iterates over the pairs
// of its row and reads their columns from global memory. Keys use the transpose of the mask, so that one thread
// computes their sums, too.
//
// Bound: memory, 4 (c + cv) bytes per pair forward and 4 (4 c + 3 cv) backward, mostly from the caches; useful masks
// leave few pairs.
#pragma once

#include "models/ops/cuda/primal_softmax_kernel.cuh"

namespace geosft::cuda {

template <typename T, int Width, PairPart kPart>
class PrimalMaskedKernel
    : public PrimalAttentionKernel<PrimalMaskedKernel<T, Width, kPart>, T, Width, kPart != PairPart::kValue> {
  using Rows = PairedRows<T, Width>;
  static constexpr bool kForward = kPart == PairPart::kValue, kValue = kPart == PairPart::kBoth;
  static constexpr int kChunks = Rows::kChunks;

 public:
  struct Tiles {
    Vec4<T> row_x[kThreads][kChunks + 1];
    Vec4<T> row_y[kForward ? 1 : kThreads][kChunks + 1];
  };
  struct State {};

  GEOSFT_DEVICE static void begin(const PrimalTask<T>&, const PrimalSpan&, int64_t /*head*/, int /*thread*/, State&) {}
  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const PrimalTask<T>& task, const PrimalSpan& span, int64_t head,
                                    Tiles& tiles, States& /*state*/) {
    block.each([&](int thread) {
      if (thread >= span.row_count()) return;
      if constexpr (kForward) {
        value(task, span, tiles, head, thread);
      } else {
        gradient(task, span, tiles, head, thread);
      }
    });
  }

 private:
  // Calls accumulate(column) for the columns that the thread's row is paired with.
  template <class Accumulate>
  GEOSFT_DEVICE static void each_seen(const PrimalTask<T>& task, const PrimalSpan& span, int64_t head, int thread,
                                      const Accumulate& accumulate) {
    const int64_t* rowptr = task.mask.rowptr + (span.rows.begin + thread + head * task.mask.head_step);
    const int64_t begin = clamped(rowptr[0], 0, task.mask.entries), end = clamped(rowptr[1], begin, task.mask.entries);
    for (int64_t e = begin; e < end; ++e) {
      const int64_t row = task.mask.col[e];
      if (row >= span.columns.begin && row < span.columns.end) accumulate(row);
    }
  }

  // A column, read four numbers at a time.
  struct Column {
    const PrimalTask<T>& task;
    int64_t row, head, item;

    GEOSFT_DEVICE Vec4<T> x(int chunk) const {
      Vec4<T> four = numbers(task.column_tokens.x, task.column_tokens.at(row, head) * task.c, task.c, chunk);
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        const int channel = chunk * 4 + t;
        if (channel < task.c) four.v[t] -= shift_of(task.column_tokens, head, task.heads, item, task.c, channel);
      }
      return four;
    }
    GEOSFT_DEVICE Vec4<T> y(int chunk) const {
      return numbers(task.column_tokens.y, task.column_tokens.at(row, head) * task.cv, task.cv, chunk);
    }

   private:
    GEOSFT_DEVICE static Vec4<T> numbers(const Accessor<const T>& from, int64_t first, int width, int chunk) {
      Vec4<T> four{};
      from.visit([&](const auto* all) {
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) {
          if (chunk * 4 + t < width) four.v[t] = widened(all[first + chunk * 4 + t]);
        }
      });
      return four;
    }
  };

  // Returns row . column, where four(chunk) gives the numbers of the column.
  template <class Four>
  GEOSFT_DEVICE static T product(const Vec4<T> (&row)[kChunks + 1], const Four& four) {
    T sum = 0;
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Vec4<T> theirs = four(chunk);
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) sum += row[chunk].v[t] * theirs.v[t];
    }
    return sum;
  }

  template <class Four>
  GEOSFT_DEVICE static void add(T weight, const Four& four, typename Rows::Sums& sum) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Vec4<T> theirs = four(chunk);
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) sum[chunk].v[t] += weight * theirs.v[t];
    }
  }

  GEOSFT_DEVICE static void value(const PrimalTask<T>& task, const PrimalSpan& span, const Tiles& tiles, int64_t head,
                                  int thread) {
    RunningSoftmax<T, Width> state;
    state.begin();
    each_seen(task, span, head, thread, [&](int64_t index) {
      const Column column{task, index, head, span.rows.item};
      const auto x = [&](int chunk) { return column.x(chunk); };
      const auto y = [&](int chunk) { return column.y(chunk); };
      const T logit = product(tiles.row_x[thread], x) * task.scale;
      state.raise(logit);
      const T weight = exp_below_zero(logit - state.largest);
      state.total += weight;
      add(weight, y, state.value);
    });
    state.store(task, task.row_tokens.at(span.rows.begin + thread, head));
  }

  GEOSFT_DEVICE static void gradient(const PrimalTask<T>& task, const PrimalSpan& span, const Tiles& tiles,
                                     int64_t head, int thread) {
    typename Rows::Sums values, gradients;
    Rows::clear(values);
    Rows::clear(gradients);
    const int64_t row = span.rows.begin + thread, at = task.row_tokens.at(row, head);
    const T further = further_of(task.row_tokens, row, head), offset = offset_of(task.row_tokens, row, head);
    each_seen(task, span, head, thread, [&](int64_t index) {
      const Column column{task, index, head, span.rows.item};
      const auto x = [&](int chunk) { return column.x(chunk); };
      const auto y = [&](int chunk) { return column.y(chunk); };
      const T logit = product(tiles.row_x[thread], x) * task.scale;
      const T weight = exp_below_zero(logit + (offset + offset_of(task.column_tokens, index, head)));
      const T slope =
          (product(tiles.row_y[thread], y) + further * further_of(task.column_tokens, index, head)) * weight;
      add(slope, x, gradients);
      if constexpr (kValue) add(weight, y, values);
    });
    put_sums(gradients, task.scale, task.gradient + at * task.c, task.c);
    if constexpr (kValue) put_sums(values, T(1), task.value + at * task.cv, task.cv);
  }
};

}  // namespace geosft::cuda
