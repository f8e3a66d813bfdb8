// SPDX-License-Identifier: Apache-2.0
// Computes the softmax of primal_attention over all keys of an item: weights are evaluated and never stored. See
// paired_rows.h.
//
// Bound, in float32: c + cv multiply-adds per pair forward, 4 c + 3 cv backward for rows and columns together, at 128
// per clock and multiprocessor. In addition there are 2 (c + cv) / 4 reads of 16 bytes from shared memory, which take
// as long as 16 issue slots each: a quarter of the bound is reachable, as items are short or rows few. Tensor cores
// would need half types and give other bits from one layout to the next.
#pragma once

#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

// Online softmax sums of a row, while its largest logit is not known yet.
template <typename T, int Width>
struct RunningSoftmax {
  typename PairedRows<T, Width>::Sums value;
  T largest, total;

  GEOSFT_DEVICE void begin() {
    PairedRows<T, Width>::clear(value);
    largest = -T(INFINITY);
    total = 0;
  }

  // Weights are relative to the largest logit so far; the sums are rescaled when it grows.
  GEOSFT_DEVICE void raise(T logit) {
    if (!(logit > largest)) return;
    const T factor = exp_below_zero(largest - logit);
    largest = logit;
    total *= factor;
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < Width / 4; ++chunk) {
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) value[chunk].v[t] *= factor;
    }
  }

  // Writes value and normaliser at index `at`.
  GEOSFT_DEVICE void store(const PrimalTask<T>& task, int64_t at) const {
    put_sums(value, total > 0 || total != total ? T(1) / total : T(0), task.value + at * task.cv, task.cv);
    task.normalizer[at] = total > 0 || total != total ? largest + log(total) : T(0);
  }
};

template <typename T, int Width>
class PrimalSoftmaxKernel : public PrimalAttentionKernel<PrimalSoftmaxKernel<T, Width>, T, Width, false> {
  using Rows = PairedRows<T, Width>;
  static constexpr int kChunks = Rows::kChunks, kGroup = Rows::kGroup, kColumns = Rows::kColumns;

 public:
  using State = RunningSoftmax<T, Width>;
  // Rows of row_x are padded by one Vec4: see ForwardKernel.
  struct Tiles {
    Vec4<T> row_x[kThreads][kChunks + 1];
    Vec4<T> x[kColumns][kChunks];
    Vec4<T> y[kColumns][kChunks];
  };

  GEOSFT_DEVICE static void begin(const PrimalTask<T>& /*task*/, const PrimalSpan& /*span*/, int64_t /*head*/,
                                  int /*thread*/, State& state) {
    state.begin();
  }
  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const PrimalTask<T>& task, const PrimalSpan& span, int64_t head,
                                    Tiles& tiles, States& state) {
    for_columns<kColumns, kGroup>(
        block, span.columns,
        [&](int64_t first, int count, int thread) {
          load_shifted_x(task.column_tokens, task, tiles.x, Width, span.rows.item, first, count, head, thread);
          load_y(task.column_tokens, task, tiles.y, Width, first, count, head, thread);
        },
        [&](int group, int count, int thread) {
          accumulate(task, tiles, group, count, thread < span.row_count(), thread, state[thread]);
        });
    block.each([&](int thread) {
      if (thread < span.row_count()) state[thread].store(task, task.row_tokens.at(span.rows.begin + thread, head));
    });
  }

 private:
  GEOSFT_DEVICE static void accumulate(const PrimalTask<T>& task, const Tiles& tiles, int group, int count, bool there,
                                       int thread, RunningSoftmax<T, Width>& state) {
    T weight[kGroup];
    bool counts[kGroup];
    Rows::products(tiles.row_x[thread], tiles.x, group, weight);
    T largest = state.largest;
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      counts[g] = there && group + g < count;
      weight[g] *= task.scale;
      if (counts[g] && weight[g] > largest) largest = weight[g];
    }
    state.raise(largest);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      weight[g] = exp_below_zero(weight[g] - state.largest);
      if (counts[g]) state.total += weight[g];
    }
    Rows::add(weight, counts, tiles.y, group, state.value);
  }
};

// Computes the gradient of rows, and with kBoth the value (for keys: the gradient of their values).
template <typename T, int Width, PairPart kPart>
class PrimalGradientKernel : public PrimalAttentionKernel<PrimalGradientKernel<T, Width, kPart>, T, Width, true> {
  using Rows = PairedRows<T, Width>;
  static constexpr bool kValue = kPart == PairPart::kBoth;
  static constexpr int kChunks = Rows::kChunks, kGroup = Rows::kGroup, kColumns = Rows::kColumns;

 public:
  struct Tiles {
    Vec4<T> row_x[kThreads][kChunks + 1];
    Vec4<T> row_y[kThreads][kChunks + 1];
    Vec4<T> x[kColumns][kChunks];
    Vec4<T> y[kColumns][kChunks];
    T further[kColumns], offset[kColumns];
  };
  struct State {
    Vec4<T> value[kValue ? kChunks : 1];
    typename Rows::Sums gradient;
    T further, offset;
  };

  GEOSFT_DEVICE static void begin(const PrimalTask<T>& task, const PrimalSpan& span, int64_t head, int thread,
                                  State& state) {
    if constexpr (kValue) Rows::clear(state.value);
    Rows::clear(state.gradient);
    const bool there = thread < span.row_count();
    state.further = there ? further_of(task.row_tokens, span.rows.begin + thread, head) : T(0);
    state.offset = there ? offset_of(task.row_tokens, span.rows.begin + thread, head) : T(0);
  }

  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const PrimalTask<T>& task, const PrimalSpan& span, int64_t head,
                                    Tiles& tiles, States& state) {
    const auto load = [&](int64_t first, int count, int thread) {
      load_shifted_x(task.column_tokens, task, tiles.x, Width, span.rows.item, first, count, head, thread);
      load_y(task.column_tokens, task, tiles.y, Width, first, count, head, thread);
      if (thread >= kColumns) return;
      tiles.further[thread] = thread < count ? further_of(task.column_tokens, first + thread, head) : T(0);
      tiles.offset[thread] = thread < count ? offset_of(task.column_tokens, first + thread, head) : T(0);
    };
    for_columns<kColumns, kGroup>(block, span.columns, load, [&](int group, int count, int thread) {
      accumulate(task, tiles, group, count, thread < span.row_count(), thread, state[thread]);
    });
    block.each([&](int thread) {
      if (thread >= span.row_count()) return;
      const int64_t at = task.row_tokens.at(span.rows.begin + thread, head);
      if constexpr (kValue) put_sums(state[thread].value, T(1), task.value + at * task.cv, task.cv);
      put_sums(state[thread].gradient, task.scale, task.gradient + at * task.c, task.c);
    });
  }

 private:
  GEOSFT_DEVICE static void accumulate(const PrimalTask<T>& task, const Tiles& tiles, int group, int count, bool there,
                                       int thread, State& state) {
    T weight[kGroup], slope[kGroup];
    bool counts[kGroup];
    Rows::products(tiles.row_x[thread], tiles.x, group, weight);
    Rows::products(tiles.row_y[thread], tiles.y, group, slope);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      counts[g] = there && group + g < count;
      weight[g] = exp_below_zero(weight[g] * task.scale + (state.offset + tiles.offset[group + g]));
      slope[g] = (slope[g] + state.further * tiles.further[group + g]) * weight[g];
    }
    if constexpr (kValue) Rows::add(weight, counts, tiles.y, group, state.value);
    Rows::add(slope, counts, tiles.x, group, state.gradient);
  }
};

}  // namespace geosft::cuda
