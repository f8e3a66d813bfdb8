// SPDX-License-Identifier: Apache-2.0
// Computes the forward pass of all attention operators on a GPU (SFT section 4.3), one block per tile of queries of one
// item and head:
//   S = mul * sum_t max(q, k) / sqrt(c) + add,   out = relu(S) v / (sum_j (relu(S_j) + softplus(leak_j)) + eps).
// relu needs no running maximum: one pass over the keys computes out and the denominator.
//
// A thread has Rows whole queries and iterates over the keys in groups: the scores of a group and the sums of the
// values and of the denominator stay in its registers, and threads exchange nothing. All threads read keys and values
// from the same shared-memory address.
//
// Bound: max issues at half rate, so 64 max+add per clock and multiprocessor in float32 (1.7e13 per second on 132 at
// 1.98 GHz), and these fill all issue slots: every other instruction lowers the bound. Issue slots per (query, key)
// pair at c = 16: 32 for max and add, 16 multiply-adds with the values, 2.5 reads of 16 bytes from shared memory (a
// read occupies the memory pipe for 16 issue slots of the multiprocessor: 40 of the 51 slots, which is why a thread has
// four queries), 4 for relu, scale and sum. Expected: 32 / 55 = 58 % without an attention bias; the bias of points adds
// about 25 (distance, product, affine maps, exponential, polynomial), 32 / 80 = 40 %. Multiplying with the values on
// tensor cores (tf32 in three parts) would give 75 and 48 %.
//
// Registers, float32, c = 16: 4 x 16 sums, 4 x 8 scores and about 50 for operands, so about 150 would be enough: 6
// blocks of 2 warps per multiprocessor, with 34 KiB of shared memory each (204 of 227). If it may unroll the score loop
// fully, ptxas takes 250 registers to read ahead (4 blocks), and spills at c = 32 (128 sums): hence the unroll factor
// of two.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"

namespace geosft::cuda {

template <typename T, class BiasTraits, int Width, int Rows>
class ForwardKernel : public AttentionKernel<ForwardKernel<T, BiasTraits, Width, Rows>, T, BiasTraits, RowKind::kQuery,
                                             Width, Rows, ForwardTargets<T>> {
  using Base = AttentionKernel<ForwardKernel, T, BiasTraits, RowKind::kQuery, Width, Rows, ForwardTargets<T>>;
  using Base::kChunks;
  using typename Base::Bias;

 public:
  using Base::kTile;
  using typename Base::Arguments;
  static constexpr int kColumns = sizeof(T) * Width > 512 ? 8 : (Width > 32 ? 16 : 32);
  static constexpr int kGroup = 8;

  // Rows of queries are padded by one Vec4, so that eight threads that read 16 bytes each use all banks.
  struct Tiles {
    Vec4<T> query[kTile][kChunks + 1];
    Vec4<T> key[kColumns][kChunks];
    Vec4<T> value[kColumns][kChunks];
    T leak[kColumns];
    typename Bias::template Tiles<kTile, kColumns> bias;
  };
  struct State {
    Vec4<T> sum[Rows][kChunks];
    T positive[Rows], leak;
  };

  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const Arguments& arguments, const TileSpan& span, int64_t head,
                                    const Bias& bias, Tiles& tiles, States& state) {
    const AttentionArrays<T>& p = arguments.problem;
    block.each([&](int thread) {
      load_rows(tiles.query, Width, p.q, span.rows.begin, span.row_count(), p.heads * p.c, head * p.c, p.c, thread);
      bias.load_row_inputs(tiles.bias, span.rows.begin, span.row_count(), thread);
      clear(state[thread]);
    });
    for (int64_t first = span.columns.begin; first < span.columns.end; first += kColumns) {
      const int count = span.columns.end - first < kColumns ? static_cast<int>(span.columns.end - first) : kColumns;
      block.each([&](int thread) { load_keys(tiles, p, bias, first, count, head, thread); });
      bias.prepare(block, tiles.bias, first, count);
      block.each([&](int thread) {
        for (int group = 0; group < count; group += kGroup) {
          attend(tiles, p, bias, span, Group{first, group, count}, thread, state[thread]);
        }
      });
    }
    block.each([&](int thread) { store(p, span, head, thread, state[thread], arguments.to); });
  }

 private:
  // Keys begin … of the `count` keys in shared memory; the first of these is row `first` of the batch.
  struct Group {
    int64_t first;
    int begin, count;
  };

  GEOSFT_DEVICE static void clear(State& state) {
    state.leak = 0;
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      state.positive[r] = 0;
      GEOSFT_UNROLL
      for (int chunk = 0; chunk < kChunks; ++chunk) state.sum[r][chunk] = Vec4<T>{};
    }
  }

  GEOSFT_DEVICE static void load_keys(Tiles& tiles, const AttentionArrays<T>& p, const Bias& bias, int64_t first,
                                      int count, int64_t head, int thread) {
    load_rows(tiles.key, Width, p.k, first, count, p.heads * p.c, head * p.c, p.c, thread);
    load_rows(tiles.value, Width, p.v, first, count, p.heads * p.cv, head * p.cv, p.cv, thread);
    bias.load_column_inputs(tiles.bias, first, count, thread);
    if (thread < kColumns)
      tiles.leak[thread] = thread < count ? softplus(p.leak.read((first + thread) * p.heads + head)) : T(0);
  }

  GEOSFT_DEVICE static void attend(const Tiles& tiles, const AttentionArrays<T>& p, const Bias& bias,
                                   const TileSpan& span, const Group& group, int thread, State& state) {
    T score[Rows][kGroup];
    maxima(tiles, group.begin, thread, score);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      const int column = group.begin + g;
      const bool there = column < group.count;
      state.leak += tiles.leak[column];
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const int row = thread + r * kThreads;
        const BiasValue<T> value =
            bias.value(tiles.bias, Pair{row, column, group.first, there && row < span.row_count()});
        const T s = value.mul * (score[r][g] * p.scale) + value.add;
        score[r][g] = there && !(s <= 0) ? s : T(0);
        state.positive[r] += score[r][g];
      }
    }
    weigh(tiles, group.begin, score, state);
  }

  // score[r][g] = sum_t max(q, k).
  GEOSFT_DEVICE static void maxima(const Tiles& tiles, int group, int thread, T (&score)[Rows][kGroup]) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) score[r][g] = 0;
    }
    GEOSFT_UNROLL_TWO
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      Vec4<T> query[Rows];
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) query[r] = tiles.query[thread + r * kThreads][chunk];
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> key = tiles.key[group + g][chunk];
        GEOSFT_UNROLL
        for (int r = 0; r < Rows; ++r) {
          GEOSFT_UNROLL
          for (int t = 0; t < 4; ++t) score[r][g] += larger(query[r].v[t], key.v[t]);
        }
      }
    }
  }

  GEOSFT_DEVICE static void weigh(const Tiles& tiles, int group, const T (&score)[Rows][kGroup], State& state) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> value = tiles.value[group + g][chunk];
        GEOSFT_UNROLL
        for (int r = 0; r < Rows; ++r) {
          GEOSFT_UNROLL
          for (int t = 0; t < 4; ++t) state.sum[r][chunk].v[t] += score[r][g] * value.v[t];
        }
      }
    }
  }

  GEOSFT_DEVICE static void store(const AttentionArrays<T>& p, const TileSpan& span, int64_t head, int thread,
                                  const State& state, const ForwardTargets<T>& to) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int64_t row = span.rows.begin + thread + r * kThreads;
      if (row >= span.rows.end) continue;
      const T denominator = state.positive[r] + (state.leak + p.eps);
      const T share = safe_reciprocal(denominator);
      to.denominator[row * p.heads + head] = denominator;
      store_row(state.sum[r], share, to.out, (row * p.heads + head) * p.cv, p.cv);
    }
  }
};

}  // namespace geosft::cuda
