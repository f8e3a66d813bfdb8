// SPDX-License-Identifier: Apache-2.0
// Divides rectangles of keys x queries into register tiles and computes the inner products of a tile.
#if defined(GEOSFT_REGISTER_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_REGISTER_TILES_INL_H_
#undef GEOSFT_REGISTER_TILES_INL_H_
#else
#define GEOSFT_REGISTER_TILES_INL_H_
#endif

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/vectors-inl.h"

GEOSFT_SIMD_BEGIN();
// Rows (keys) and vectors (of queries) of a register tile. AVX-512 and NEON have 32 registers, others 16. Vectors are
// held while the numbers of the rows pass through one register, so eight sums of two vectors leave more registers free
// than eight of four.
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr int kTileRows = 4, kTileVectors = kManyRegisters ? 4 : 2;

template <int J, int I, class Body>
HWY_INLINE void tile_row(int64_t j, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t i = 0;
  for (; i + I <= vectors; i += I) body.template run<J, I>(j, i * lanes);
  if constexpr (I > 2) {
    if (i + 2 <= vectors) {
      body.template run<J, 2>(j, i * lanes);
      i += 2;
    }
  }
  if (i < vectors) body.template run<J, 1>(j, i * lanes);
}

// Calls body.run<J, I>(j, i) for register tiles of J rows and I vectors that cover rows x vectors, rows outermost;
// tiles at the edges are smaller.
template <int J = kTileRows, int I = kTileVectors, class Body>
HWY_INLINE void for_tiles(int64_t rows, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t j = 0;
  for (; j + J <= rows; j += J) tile_row<J, I>(j, vectors, lanes, body);
  for (; j < rows; ++j) tile_row<1, I>(j, vectors, lanes, body);
}

// Sums scale * max(a, b). On AMD's Zen 3 a maximum and an addition compete for the same two ports, while a multiply-add
// uses two others: replacing the addition by it doubles the rate. Without FMA the sum is scaled at the end.
template <class V>
struct MaxPlus {
  V scale;
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return HWY_NATIVE_FMA ? hn::MulAdd(hn::Max(a, b), scale, sum) : hn::Add(sum, hn::Max(a, b));
  }
  HWY_INLINE V finish(V sum) const { return HWY_NATIVE_FMA ? sum : hn::Mul(sum, scale); }
};
struct MulPlus {
  template <class V>
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return hn::MulAdd(a, b, sum);
  }
};

// Load and store register tiles of rows of kBlock elements; store_tile writes f(vector, where it goes).
template <int64_t kBlock, typename T, int J, int I>
HWY_INLINE void load_tile(const T* HWY_RESTRICT from, Vector<T> (&tile)[J][I]) {
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) tile[j][i] = hn::Load(Tag<T>(), from + j * kBlock + i * kLanes<T>);
  }
}
template <int64_t kBlock, typename T, int J, int I, class F>
HWY_INLINE void store_tile(const Vector<T> (&tile)[J][I], T* HWY_RESTRICT to, const F& f) {
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) {
      T* const at = to + j * kBlock + i * kLanes<T>;
      hn::Store(f(tile[j][i], at), Tag<T>(), at);
    }
  }
}
struct Unchanged {
  template <class V, typename T>
  HWY_INLINE V operator()(V v, const T* /*at*/) const {
    return v;
  }
};

// sum[j][i] = sum_t combine(queries[t][i], keys[j * stride + t]); rows of `queries` have kBlock elements.
template <int J, int I, int64_t kBlock = kQueryBlock, typename T, class Combine>
HWY_INLINE void product(const T* HWY_RESTRICT queries, const T* HWY_RESTRICT keys, int64_t stride, int64_t depth,
                        const Combine& combine, Vector<T> (&sum)[J][I]) {
  const Tag<T> d;
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) sum[j][i] = hn::Zero(d);
  }
  for (int64_t t = 0; t < depth; ++t) {
    Vector<T> query[I];
    for (int i = 0; i < I; ++i) query[i] = hn::Load(d, queries + t * kBlock + i * kLanes<T>);
    for (int j = 0; j < J; ++j) {
      const Vector<T> key = hn::Set(d, keys[j * stride + t]);
      for (int i = 0; i < I; ++i) sum[j][i] = combine(query[i], key, sum[j][i]);
    }
  }
}

GEOSFT_SIMD_END();
#endif
