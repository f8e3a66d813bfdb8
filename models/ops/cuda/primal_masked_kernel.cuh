// SPDX-License-Identifier: Apache-2.0
// Computes the softmax of primal_attention over the pairs of a mask, one row per thread: each iterates over its own
// pairs and reads the rows of the other side from global memory. Keys use the transpose of the mask, so that one thread
// computes their sums, too.
//
// Bound: memory, 4 (c + cv) bytes per pair forward and 4 (4 c + 3 cv) backward, mostly from the caches; useful masks
// leave few pairs.
#pragma once

#include "models/ops/cuda/primal_softmax_kernel.cuh"

namespace geosft::cuda {

template <typename T, int Width, PairPart kPart>
class PrimalMaskedTile {
  using Rows = PairedRows<T, Width>;
  static constexpr bool kForward = kPart == PairPart::kValue, kValue = kPart == PairPart::kBoth;
  static constexpr int kChunks = Rows::kChunks;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Arguments = PrimalTask<T>;

  struct Tiles {
    Vec4<T> own_x[kThreads][kChunks + 1];
    Vec4<T> own_y[kForward ? 1 : kThreads][kChunks + 1];
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& task) {
    const int64_t head = block.y();
    const PrimalRows rows = primal_rows(task, block.x(), head);
    if (rows.own.begin >= rows.own.end) return;
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      load_shifted_x(task.own, task, tiles.own_x, Width, rows.own.item, rows.own.begin, rows.own_count(), head, thread);
      if constexpr (!kForward) {
        load_y(task.own, task, tiles.own_y, Width, rows.own.begin, rows.own_count(), head, thread);
      }
    });
    block.each([&](int thread) {
      if (thread >= rows.own_count()) return;
      if constexpr (kForward) {
        value(task, rows, tiles, head, thread);
      } else {
        gradient(task, rows, tiles, head, thread);
      }
    });
  }

 private:
  // Calls meet(row) for the rows of the other side that the thread's own row is paired with.
  template <class Meet>
  GEOSFT_DEVICE static void each_seen(const Arguments& task, const PrimalRows& rows, int64_t head, int thread,
                                      const Meet& meet) {
    const int64_t* rowptr = task.mask.rowptr + (rows.own.begin + thread + head * task.mask.head_step);
    const int64_t begin = clamped(rowptr[0], 0, task.mask.entries), end = clamped(rowptr[1], begin, task.mask.entries);
    for (int64_t e = begin; e < end; ++e) {
      const int64_t row = task.mask.col[e];
      if (row >= rows.other.begin && row < rows.other.end) meet(row);
    }
  }

  // A row of the other side, read four numbers at a time.
  struct OtherRow {
    const Arguments& task;
    int64_t row, head, item;

    GEOSFT_DEVICE Vec4<T> x(int chunk) const {
      Vec4<T> four = numbers(task.other.x, task.other.at(row, head) * task.c, task.c, chunk);
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        const int channel = chunk * 4 + t;
        if (channel < task.c) four.v[t] -= shift_of(task.other, head, task.heads, item, task.c, channel);
      }
      return four;
    }
    GEOSFT_DEVICE Vec4<T> y(int chunk) const {
      return numbers(task.other.y, task.other.at(row, head) * task.cv, task.cv, chunk);
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

  // Returns own . other, where four(chunk) gives the numbers of other.
  template <class Four>
  GEOSFT_DEVICE static T product(const Vec4<T> (&own)[kChunks + 1], const Four& four) {
    T sum = 0;
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Vec4<T> theirs = four(chunk);
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) sum += own[chunk].v[t] * theirs.v[t];
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

  GEOSFT_DEVICE static void value(const Arguments& task, const PrimalRows& rows, const Tiles& tiles, int64_t head,
                                  int thread) {
    RunningSoftmax<T, Width> state;
    state.begin();
    each_seen(task, rows, head, thread, [&](int64_t row) {
      const OtherRow other{task, row, head, rows.own.item};
      const auto x = [&](int chunk) { return other.x(chunk); };
      const auto y = [&](int chunk) { return other.y(chunk); };
      const T logit = product(tiles.own_x[thread], x) * task.scale;
      state.raise(logit);
      const T weight = exp_below_zero(logit - state.largest);
      state.total += weight;
      add(weight, y, state.value);
    });
    state.store(task, task.own.at(rows.own.begin + thread, head));
  }

  GEOSFT_DEVICE static void gradient(const Arguments& task, const PrimalRows& rows, const Tiles& tiles, int64_t head,
                                     int thread) {
    typename Rows::Sums values, gradients;
    Rows::clear(values);
    Rows::clear(gradients);
    const int64_t own = rows.own.begin + thread, at = task.own.at(own, head);
    const T further = further_of(task.own, own, head), offset = offset_of(task.own, own, head);
    each_seen(task, rows, head, thread, [&](int64_t row) {
      const OtherRow other{task, row, head, rows.own.item};
      const auto x = [&](int chunk) { return other.x(chunk); };
      const auto y = [&](int chunk) { return other.y(chunk); };
      const T logit = product(tiles.own_x[thread], x) * task.scale;
      const T weight = exp_below_zero(logit + (offset + offset_of(task.other, row, head)));
      const T slope = (product(tiles.own_y[thread], y) + further * further_of(task.other, row, head)) * weight;
      add(slope, x, gradients);
      if constexpr (kValue) add(weight, y, values);
    });
    put_sums(gradients, task.scale, task.gradient + at * task.c, task.c);
    if constexpr (kValue) put_sums(values, T(1), task.value + at * task.cv, task.cv);
  }
};

}  // namespace geosft::cuda
