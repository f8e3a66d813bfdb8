// SPDX-License-Identifier: Apache-2.0
// polynomial_attention on a GPU: weights A_ij = P(s_ij), P(s) = sum_{t <= degree} s^t / t!, s = scale q . k, evaluated
// pair by pair and never stored: time O(n^2), memory O(n). Monomials would cost 2 binomial(c + degree, degree) (cv + 1)
// a row instead of c + degree + cv + 1 a pair: more work below 4,452 keys for c = 16 and degree 4, 424 for c = 8, and
// ever less beyond.
//
// With y = grad / sum_j A_ij and l = -(y . out), both of a query: dA_ij = y_i . v_j + l_i, ds_ij = dA_ij P'(s_ij),
//   dq_i = scale sum_j ds_ij k_j,   dk_j = scale sum_i ds_ij q_i,   dv_j = sum_i A_ij y_i.
// As in attention_backward_tile.h a block owns rows of one side, a row a thread, and goes through those of the other:
// every sum is one thread's, in one order.
#pragma once

#include "models/ops/cuda/attention_term.h"
#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// P(s) and P'(s), the sum of one term less.
template <typename T>
struct Polynomial {
  T value, slope;
};
template <typename T>
GEOSFT_DEVICE Polynomial<T> polynomial(T s, int64_t degree) {
  T term = 1, sum = 1, before = 0;
  for (int64_t t = 1; t <= degree; ++t) {
    before = sum;
    term *= s * (T(1) / static_cast<T>(t));
    sum += term;
  }
  return {sum, before};
}

// The rows that a tile owns, and those of the other side that any of them is related to: with `causal` the query at
// place i of its item sees the keys at places 0 … i.
template <Side kSide, typename T>
GEOSFT_DEVICE TileRows polynomial_rows(const PolynomialArrays<T>& p, int64_t tile, int64_t slot) {
  const PackedTile own = packed_tile(kSide == Side::kQuery ? p.queries : p.keys, tile, slot);
  RowRange other = item_rows(kSide == Side::kQuery ? p.keys : p.queries, own.item);
  if (p.causal && kSide == Side::kQuery) {
    other.end = clamped(other.begin + (own.end - own.item_begin), other.begin, other.end);
  }
  if (p.causal && kSide == Side::kKey) {
    other.begin = clamped(other.begin + (own.begin - own.item_begin), other.begin, other.end);
  }
  return {own, other};
}

// What the tiles of both passes share: rows of both sides in shared memory, products of them in registers.
template <typename T, Side kSide, int Width>
class PolynomialSteps {
 public:
  static constexpr int kChunks = Width / 4, kGroup = 4;
  static constexpr int kOthers = sizeof(T) * Width > 512 ? 8 : (Width > 32 ? 16 : 32);

  // `key` and `value` of a row: k and v, or q and y. One Vec4 more in a row of the own: see ForwardTile.
  struct Tiles {
    Vec4<T> own_key[kThreads][kChunks + 1];
    Vec4<T> own_value[kThreads][kChunks + 1];
    Vec4<T> key[kOthers][kChunks];
    Vec4<T> value[kOthers][kChunks];
    T last[kOthers];
  };
  using Sums = Vec4<T>[kChunks];

  // Whether a pair counts; own and other are rows of the batch.
  GEOSFT_DEVICE static bool related(const PolynomialArrays<T>& p, const TileRows& rows, int64_t other_begin,
                                    int64_t own, int64_t other) {
    if (own >= rows.own.end || other >= rows.other.end) return false;
    if (!p.causal) return true;
    const int64_t own_place = own - rows.own.item_begin, other_place = other - other_begin;
    return kSide == Side::kQuery ? other_place <= own_place : own_place <= other_place;
  }

  // product[g] = own . tile[begin + g].
  template <int Stride, int Count>
  GEOSFT_DEVICE static void products(const Vec4<T> (&own)[Stride], const Vec4<T> (&tile)[Count][kChunks], int begin,
                                     T (&product)[kGroup]) {
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) product[g] = 0;
    GEOSFT_UNROLL_TWO
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Vec4<T> mine = own[chunk];
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> theirs = tile[begin + g][chunk];
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) product[g] += mine.v[t] * theirs.v[t];
      }
    }
  }

  // sum += weight[g] tile[begin + g].
  template <int Count>
  GEOSFT_DEVICE static void add(const T (&weight)[kGroup], const Vec4<T> (&tile)[Count][kChunks], int begin,
                                Sums& sum) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> theirs = tile[begin + g][chunk];
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) sum[chunk].v[t] += weight[g] * theirs.v[t];
      }
    }
  }

  GEOSFT_DEVICE static void clear(Sums& sum) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) sum[chunk] = Vec4<T>{};
  }
  GEOSFT_DEVICE static void store(const Sums& sum, T factor, T* to, int width) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        if (chunk * 4 + t < width) to[chunk * 4 + t] = sum[chunk].v[t] * factor;
      }
    }
  }
};

template <typename T, int Width>
class PolynomialForwardTile {
  using Steps = PolynomialSteps<T, Side::kQuery, Width>;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Tiles = typename Steps::Tiles;
  using Arguments = PolynomialForward<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PolynomialArrays<T>& p = in.problem;
    const TileRows rows = polynomial_rows<Side::kQuery>(p, kThreads, block.x());
    if (rows.own.begin >= rows.own.end) return;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    const int64_t head = block.y(), begin = rows.other.begin;
    block.each([&](int thread) {
      load_rows(tiles.own_key, Width, p.q, rows.own.begin, rows.own_count(), p.heads * p.c, head * p.c, p.c, thread);
      Steps::clear(state[thread].sum);
      state[thread].total = 0;
    });
    for (int64_t first = begin; first < rows.other.end; first += Steps::kOthers) {
      const int count =
          rows.other.end - first < Steps::kOthers ? static_cast<int>(rows.other.end - first) : Steps::kOthers;
      block.each([&](int thread) {
        load_rows(tiles.key, Width, p.k, first, count, p.heads * p.c, head * p.c, p.c, thread);
        load_rows(tiles.value, Width, p.v, first, count, p.heads * p.cv, head * p.cv, p.cv, thread);
      });
      block.each([&](int thread) {
        for (int group = 0; group < count; group += Steps::kGroup) {
          attend(p, rows, tiles, begin, first, group, thread, state[thread]);
        }
      });
    }
    block.each([&](int thread) {
      const int64_t row = rows.own.begin + thread;
      if (row >= rows.own.end) return;
      const T total = state[thread].total;
      in.denominator[row * p.heads + head] = total;
      const T share = begin < rows.other.end ? T(1) / total : T(0);
      Steps::store(state[thread].sum, share, in.out + (row * p.heads + head) * p.cv, p.cv);
    });
  }

 private:
  struct State {
    typename Steps::Sums sum;
    T total;
  };

  GEOSFT_DEVICE static void attend(const PolynomialArrays<T>& p, const TileRows& rows, const Tiles& tiles,
                                   int64_t begin, int64_t first, int group, int thread, State& state) {
    T weight[Steps::kGroup];
    Steps::products(tiles.own_key[thread], tiles.key, group, weight);
    GEOSFT_UNROLL
    for (int g = 0; g < Steps::kGroup; ++g) {
      const bool counts = Steps::related(p, rows, begin, rows.own.begin + thread, first + group + g);
      weight[g] = counts ? polynomial(weight[g] * p.scale, p.degree).value : T(0);
      state.total += weight[g];
    }
    Steps::add(weight, tiles.value, group, state.sum);
  }
};

template <typename T, Side kSide, int Width>
class PolynomialBackwardTile {
  using Steps = PolynomialSteps<T, kSide, Width>;
  static constexpr bool kOfKeys = kSide == Side::kKey;

 public:
  static constexpr int kBlockThreads = kThreads;
  using Tiles = typename Steps::Tiles;
  using Arguments = PolynomialBackward<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PolynomialArrays<T>& p = in.problem;
    const TileRows rows = polynomial_rows<kSide>(p, kThreads, block.x());
    if (rows.own.begin >= rows.own.end) return;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    const int64_t head = block.y(), begin = item_rows(kOfKeys ? p.queries : p.keys, rows.own.item).begin;
    block.each([&](int thread) {
      load<kOfKeys>(in, tiles.own_key, tiles.own_value, rows.own.begin, rows.own_count(), head, thread);
      clear(in, rows, head, thread, state[thread]);
    });
    for (int64_t first = rows.other.begin; first < rows.other.end; first += Steps::kOthers) {
      const int count =
          rows.other.end - first < Steps::kOthers ? static_cast<int>(rows.other.end - first) : Steps::kOthers;
      block.each([&](int thread) {
        load<!kOfKeys>(in, tiles.key, tiles.value, first, count, head, thread);
        if (thread < Steps::kOthers) {
          tiles.last[thread] = kOfKeys && thread < count ? in.last[(first + thread) * p.heads + head] : T(0);
        }
      });
      block.each([&](int thread) {
        for (int group = 0; group < count; group += Steps::kGroup) {
          differentiate(p, rows, tiles, begin, first, group, thread, state[thread]);
        }
      });
    }
    block.each([&](int thread) {
      const int64_t row = rows.own.begin + thread, at = row * p.heads + head;
      if (row >= rows.own.end) return;
      Steps::store(state[thread].key, p.scale, (kOfKeys ? in.k : in.q) + at * p.c, p.c);
      if constexpr (kOfKeys) Steps::store(state[thread].value, T(1), in.v + at * p.cv, p.cv);
    });
  }

 private:
  struct State {
    typename Steps::Sums key;    // dq or dk
    typename Steps::Sums value;  // dv, on the side of keys
    T last;
  };

  // k and v of keys, q and y of queries.
  template <bool kKeys, int Count, int Stride>
  GEOSFT_DEVICE static void load(const Arguments& in, Vec4<T> (&key)[Count][Stride], Vec4<T> (&value)[Count][Stride],
                                 int64_t first, int count, int64_t head, int thread) {
    const PolynomialArrays<T>& p = in.problem;
    load_rows(key, Width, kKeys ? p.k : p.q, first, count, p.heads * p.c, head * p.c, p.c, thread);
    load_rows(value, Width, kKeys ? p.v : in.y, first, count, p.heads * p.cv, head * p.cv, p.cv, thread);
  }

  GEOSFT_DEVICE static void clear(const Arguments& in, const TileRows& rows, int64_t head, int thread, State& state) {
    Steps::clear(state.key);
    if constexpr (kOfKeys) Steps::clear(state.value);
    const int64_t row = rows.own.begin + thread;
    state.last = !kOfKeys && row < rows.own.end ? in.last[row * in.problem.heads + head] : T(0);
  }

  GEOSFT_DEVICE static void differentiate(const PolynomialArrays<T>& p, const TileRows& rows, const Tiles& tiles,
                                          int64_t begin, int64_t first, int group, int thread, State& state) {
    T score[Steps::kGroup], product[Steps::kGroup];
    Steps::products(tiles.own_key[thread], tiles.key, group, score);
    Steps::products(tiles.own_value[thread], tiles.value, group, product);
    GEOSFT_UNROLL
    for (int g = 0; g < Steps::kGroup; ++g) {
      const bool counts = Steps::related(p, rows, begin, rows.own.begin + thread, first + group + g);
      const Polynomial<T> weight = polynomial(score[g] * p.scale, p.degree);
      const T last = kOfKeys ? tiles.last[group + g] : state.last;
      product[g] = counts ? (product[g] + last) * weight.slope : T(0);
      score[g] = counts ? weight.value : T(0);
    }
    Steps::add(product, tiles.key, group, state.key);
    if constexpr (kOfKeys) Steps::add(score, tiles.value, group, state.value);
  }
};

// body(integral constant) for the width that heads of `width` channels run with.
template <int Value>
struct PolynomialWidth {
  static constexpr int kWidth = Value;
};
template <typename T, class Body>
void with_polynomial_width(int64_t width, const Body& body) {
  if (width <= 16) return body(PolynomialWidth<16>());
  if constexpr (sizeof(T) == 4) {
    if (width <= 32) return body(PolynomialWidth<32>());
    if (width <= 64) return body(PolynomialWidth<64>());
  }
  body(PolynomialWidth<kLargestWidth>());
}

// The grids of a call, on a GPU or emulated: see attention_grid.h.
template <typename T, class Run>
void polynomial_grids(const PolynomialForward<T>& in, Run&& run) {
  const PolynomialArrays<T>& p = in.problem;
  with_polynomial_width<T>(p.c > p.cv ? p.c : p.cv, [&](auto width) {
    using Tile = PolynomialForwardTile<T, decltype(width)::kWidth>;
    run.template grid<Tile>(tile_slots(p.queries.rows, p.queries.items, kThreads), p.heads, in);
  });
}
template <typename T, class Run>
void polynomial_grids(const PolynomialBackward<T>& in, Run&& run) {
  const PolynomialArrays<T>& p = in.problem;
  with_polynomial_width<T>(p.c > p.cv ? p.c : p.cv, [&](auto width) {
    using OfQueries = PolynomialBackwardTile<T, Side::kQuery, decltype(width)::kWidth>;
    run.template grid<OfQueries>(tile_slots(p.queries.rows, p.queries.items, kThreads), p.heads, in);
    using OfKeys = PolynomialBackwardTile<T, Side::kKey, decltype(width)::kWidth>;
    run.template grid<OfKeys>(tile_slots(p.keys.rows, p.keys.items, kThreads), p.heads, in);
  });
}

}  // namespace geosft::cuda
