// SPDX-License-Identifier: Apache-2.0
// Computes the backward pass of all attention operators on a GPU and recomputes everything of size n x k. With D the
// denominator, g the output gradient, e = g / D and delta = e . out:
//   dS_ij = [S_ij > 0] (e_i . v_j - delta_i),   dq_it = sum_j [q_it >= k_jt] dS_ij mul_ij / sqrt(c),
//   dk_jt = sum_i [q_it < k_jt] dS_ij mul_ij / sqrt(c),   dv_j = sum_i relu(S_ij) e_i,
//   dleak_j = -sigmoid(leak_j) sum_i delta_i
// and the gradients of the attention bias.
//
// This source gives two kernels, and no two blocks add to the same memory: with RowKind::kQuery a block has a tile of
// queries and iterates over the keys of their item, with RowKind::kKey a tile of keys and
// iterates over the queries. One thread computes each sum in a fixed order, so results are bitwise reproducible.
//
// Instructions per (query, key, channel): 2 for the score, 1 for e . v, 2 for a comparison and a predicated addition,
// and 1 more for dv in the kernel of keys: 11 in both kernels. The minimum is 5 (the score once, one comparison and one
// addition each to dq and dk), or 64 / 2.5 elements per clock. The upper bound is therefore 5 / 11 = 45 %; about 37 %
// with the shared-memory reads, and 30 % with the attention bias of points at c = 16.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"

namespace geosft::cuda {

template <typename T, class BiasTraits, RowKind kRowKind, int Width, int Rows>
class BackwardKernel : public AttentionKernel<BackwardKernel<T, BiasTraits, kRowKind, Width, Rows>, T, BiasTraits,
                                              kRowKind, Width, Rows, BackwardTargets<T>> {
  using Base = AttentionKernel<BackwardKernel, T, BiasTraits, kRowKind, Width, Rows, BackwardTargets<T>>;
  using Base::kChunks;
  using typename Base::Bias;

 public:
  using Base::kTile;
  using typename Base::Arguments;
  static constexpr bool kOfKeys = kRowKind == RowKind::kKey;
  static constexpr int kColumns = sizeof(T) * Width > 512 ? 4 : (Width > 32 ? 16 : 32);
  static constexpr int kGroup = 4;

  // `key` and `value` of a row are k and v for keys, q and e for queries. The deltas are those of the queries in
  // both kernels.
  struct Tiles {
    Vec4<T> row_key[kTile][kChunks + 1];
    Vec4<T> row_value[kTile][kChunks + 1];
    Vec4<T> key[kColumns][kChunks];
    Vec4<T> value[kColumns][kChunks];
    T delta[kColumns];
    typename Bias::template Tiles<kTile, kColumns> bias;
  };
  struct State {
    Vec4<T> key[Rows][kChunks];                  // dq or dk
    Vec4<T> value[kOfKeys ? Rows : 1][kChunks];  // dv
    T delta[Rows], deltas;
    typename Bias::RowSums bias[Rows];
    typename Bias::ThreadSums weights;
  };

  template <class Block, class States>
  GEOSFT_DEVICE static void compute(Block& block, const Arguments& arguments, const TileSpan& span, int64_t head,
                                    const Bias& bias, Tiles& tiles, States& state) {
    const AttentionArrays<T>& p = arguments.problem;
    const BackwardTargets<T>& to = arguments.to;
    block.each([&](int thread) {
      load<kOfKeys>(tiles.row_key, tiles.row_value, p, to, span.rows.begin, span.row_count(), head, thread);
      bias.load_row_inputs(tiles.bias, span.rows.begin, span.row_count(), thread);
      clear(p, to, span, head, thread, state[thread]);
    });
    for (int64_t first = span.columns.begin; first < span.columns.end; first += kColumns) {
      const int count = span.columns.end - first < kColumns ? static_cast<int>(span.columns.end - first) : kColumns;
      block.each([&](int thread) {
        load<!kOfKeys>(tiles.key, tiles.value, p, to, first, count, head, thread);
        bias.load_column_inputs(tiles.bias, first, count, thread);
        if (thread < kColumns) {
          tiles.delta[thread] = kOfKeys && thread < count ? to.delta[(first + thread) * p.heads + head] : T(0);
        }
      });
      bias.prepare(block, tiles.bias, first, count);
      block.each([&](int thread) {
        T deltas = 0;
        for (int group = 0; group < count; group += kGroup) {
          differentiate(tiles, p, bias, span, Group{first, group, count}, thread, state[thread]);
          GEOSFT_UNROLL
          for (int g = 0; g < kGroup; ++g) deltas += tiles.delta[group + g];
        }
        state[thread].deltas += deltas;
      });
      bias.conclude(block, tiles.bias, first, count,
                    [&](int thread) -> typename Bias::RowSums& { return state[thread].bias[0]; });
    }
    block.each([&](int thread) {
      store(p, bias, span, head, thread, state[thread], to);
      bias.stage(tiles.bias, state[thread].weights, thread);
    });
    block.each([&](int thread) { bias.finish(tiles.bias, block.x(), thread); });
  }

 private:
  // Rows begin … of the `count` rows in shared memory; the first of these is row `first` of the batch.
  struct Group {
    int64_t first;
    int begin, count;
  };

  // Loads k and v of keys, or q and e of queries.
  template <bool kKeys, int Count, int Stride>
  GEOSFT_DEVICE static void load(Vec4<T> (&key)[Count][Stride], Vec4<T> (&value)[Count][Stride],
                                 const AttentionArrays<T>& p, const BackwardTargets<T>& to, int64_t first, int count,
                                 int64_t head, int thread) {
    const int64_t c = p.heads * p.c, cv = p.heads * p.cv;
    load_rows(key, Width, kKeys ? p.k : p.q, first, count, c, head * p.c, p.c, thread);
    if constexpr (kKeys) {
      load_rows(value, Width, p.v, first, count, cv, head * p.cv, p.cv, thread);
    } else {
      to.grad.visit([&](const auto* grad) {
        for (int i = thread; i < Count * Width; i += kThreads) {
          const int row = i / Width, channel = i % Width;
          const bool there = row < count && channel < p.cv;
          const int64_t at = (first + row) * p.heads + head;
          value[row][channel / 4].v[channel % 4] = there ? widened(grad[at * p.cv + channel]) * to.share[at] : T(0);
        }
      });
    }
  }

  GEOSFT_DEVICE static void clear(const AttentionArrays<T>& p, const BackwardTargets<T>& to, const TileSpan& span,
                                  int64_t head, int thread, State& state) {
    state = State{};
    if constexpr (!kOfKeys) {
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const int64_t row = span.rows.begin + thread + r * kThreads;
        if (row < span.rows.end) state.delta[r] = to.delta[row * p.heads + head];
      }
    }
  }

  GEOSFT_DEVICE static void differentiate(Tiles& tiles, const AttentionArrays<T>& p, const Bias& bias,
                                          const TileSpan& span, const Group& group, int thread, State& state) {
    T score[Rows][kGroup], product[Rows][kGroup];
    products(tiles, group.begin, thread, score, product);
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      const int column = group.begin + g;
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const int row = thread + r * kThreads;
        const Pair pair{row, column, group.first, column < group.count && row < span.row_count()};
        const BiasValue<T> value = bias.value(tiles.bias, pair);
        const T raw = score[r][g] * p.scale, s = value.mul * raw + value.add;
        const bool positive = pair.inside && !(s <= 0);
        const T delta = kOfKeys ? tiles.delta[column] : state.delta[r];
        const T gradient = positive ? product[r][g] - delta : T(0);
        bias.collect(tiles.bias, pair, value, gradient, raw, state.bias[r], state.weights);
        product[r][g] = gradient * value.mul * p.scale;
        score[r][g] = positive ? s : T(0);
      }
    }
    distribute(tiles, group.begin, thread, score, product, state);
  }

  // score[r][g] = sum_t max(q, k), product[r][g] = e . v.
  GEOSFT_DEVICE static void products(const Tiles& tiles, int group, int thread, T (&score)[Rows][kGroup],
                                     T (&product)[Rows][kGroup]) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) score[r][g] = product[r][g] = 0;
    }
    GEOSFT_UNROLL_TWO
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      Vec4<T> row_key[Rows], row_value[Rows];
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) {
        row_key[r] = tiles.row_key[thread + r * kThreads][chunk];
        row_value[r] = tiles.row_value[thread + r * kThreads][chunk];
      }
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> key = tiles.key[group + g][chunk], value = tiles.value[group + g][chunk];
        GEOSFT_UNROLL
        for (int r = 0; r < Rows; ++r) {
          GEOSFT_UNROLL
          for (int t = 0; t < 4; ++t) {
            score[r][g] += larger(row_key[r].v[t], key.v[t]);
            product[r][g] += row_value[r].v[t] * value.v[t];
          }
        }
      }
    }
  }

  // Adds `gradient` to the larger of q and k (to the query if they are equal), and `weight` * e to dv.
  GEOSFT_DEVICE static void distribute(const Tiles& tiles, int group, int thread, const T (&weight)[Rows][kGroup],
                                       const T (&gradient)[Rows][kGroup], State& state) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      Vec4<T> row[Rows];
      GEOSFT_UNROLL
      for (int r = 0; r < Rows; ++r) row[r] = tiles.row_key[thread + r * kThreads][chunk];
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> key = tiles.key[group + g][chunk];
        GEOSFT_UNROLL
        for (int r = 0; r < Rows; ++r) {
          GEOSFT_UNROLL
          for (int t = 0; t < 4; ++t) {
            const bool mine = kOfKeys ? row[r].v[t] > key.v[t] : row[r].v[t] >= key.v[t];
            if (mine) state.key[r][chunk].v[t] += gradient[r][g];
          }
        }
        if constexpr (kOfKeys) {
          const Vec4<T> value = tiles.value[group + g][chunk];
          GEOSFT_UNROLL
          for (int r = 0; r < Rows; ++r) {
            GEOSFT_UNROLL
            for (int t = 0; t < 4; ++t) state.value[r][chunk].v[t] += weight[r][g] * value.v[t];
          }
        }
      }
    }
  }

  GEOSFT_DEVICE static void store(const AttentionArrays<T>& p, const Bias& bias, const TileSpan& span, int64_t head,
                                  int thread, const State& state, const BackwardTargets<T>& to) {
    GEOSFT_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int64_t row = span.rows.begin + thread + r * kThreads;
      if (row >= span.rows.end) continue;
      const int64_t at = row * p.heads + head;
      bias.store(row, state.bias[r]);
      store_row(state.key[r], T(1), kOfKeys ? to.k : to.q, at * p.c, p.c);
      if constexpr (kOfKeys) {
        store_row(state.value[r], T(1), to.v, at * p.cv, p.cv);
        to.leak.write(at, -softplus_with_slope(p.leak.read(at)).slope * state.deltas);
      }
    }
  }
};

// Computes share and delta for every query and head, one per thread.
template <typename T>
class GradOutputKernel {
 public:
  static constexpr int kBlockThreads = kThreads;
  struct Tiles {};

  struct Arguments {
    AttentionArrays<T> problem;
    BackwardTargets<T> to;
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& arguments) {
    const AttentionArrays<T>& p = arguments.problem;
    const BackwardTargets<T>& to = arguments.to;
    block.each([&](int thread) {
      const int64_t at = block.x() * kThreads + thread;
      if (at >= p.queries.rows * p.heads) return;
      const T denominator = to.denominator[at], share = safe_reciprocal(denominator);
      T delta = 0;
      for (int t = 0; t < p.cv; ++t) delta += to.grad.read(at * p.cv + t) * share * to.out.read(at * p.cv + t);
      to.share[at] = share;
      to.delta[at] = delta;
    });
  }
};

}  // namespace geosft::cuda
