// SPDX-License-Identifier: Apache-2.0
// Transposes rows of tokens to columns of lanes and back: kernels work on [columns][kBlock], with tokens as lanes.
#if defined(GEOSFT_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_TRANSPOSE_INL_H_
#undef GEOSFT_TRANSPOSE_INL_H_
#else
#define GEOSFT_TRANSPOSE_INL_H_
#endif

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/vectors-inl.h"

GEOSFT_SIMD_BEGIN();
// Four rows are transposed at a time if vectors hold whole blocks of four floats; other types are copied element by
// element.
template <typename T>
constexpr bool kTransposesBlocks = HWY_TARGET != HWY_SCALAR && sizeof(T) == 4;

#if HWY_TARGET != HWY_SCALAR
// Loads block b of four lanes from from[4 * b * stride], ….
template <class D, typename T>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* HWY_RESTRICT from, int64_t stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const int64_t rows = static_cast<int64_t>(hn::MaxLanes(half));
    return hn::Combine(d, load_blocks(half, from + rows * stride, stride), load_blocks(half, from, stride));
  }
}

template <class D, typename T>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, T* HWY_RESTRICT to, int64_t stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    const int64_t rows = static_cast<int64_t>(hn::MaxLanes(half));
    store_blocks(half, hn::LowerHalf(half, v), to, stride);
    store_blocks(half, hn::UpperHalf(half, v), to + rows * stride, stride);
  }
}

// Transposes, for every block, the 4 x 4 matrix formed by that block of four vectors.
template <class D, class V>
HWY_INLINE void transpose_blocks(D d, V (&v)[4]) {
  const hn::Repartition<uint64_t, D> pairs;
  const V low01 = hn::InterleaveLower(d, v[0], v[1]), high01 = hn::InterleaveUpper(d, v[0], v[1]);
  const V low23 = hn::InterleaveLower(d, v[2], v[3]), high23 = hn::InterleaveUpper(d, v[2], v[3]);
  const auto a = hn::BitCast(pairs, low01), b = hn::BitCast(pairs, low23);
  const auto e = hn::BitCast(pairs, high01), f = hn::BitCast(pairs, high23);
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, e, f));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, e, f));
}
#endif

// Transposes one vector of rows and four columns: to[t * kBlock + i] = from[i * stride + t].
template <int64_t kBlock, typename T>
HWY_INLINE void pack_tile(const T* HWY_RESTRICT from, int64_t stride, T* HWY_RESTRICT to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kTransposesBlocks<T>) {
    const Tag<T> d;
    Vector<T> v[4];
    for (int r = 0; r < 4; ++r) v[r] = load_blocks(d, from + r * stride, stride);
    transpose_blocks(d, v);
    for (int t = 0; t < 4; ++t) hn::Store(v[t], d, to + t * kBlock);
  }
#endif
}

// to[i * stride + t] = from[t * kBlock + i].
template <int64_t kBlock, typename T>
HWY_INLINE void unpack_tile(const T* HWY_RESTRICT from, T* HWY_RESTRICT to, int64_t stride) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kTransposesBlocks<T>) {
    const Tag<T> d;
    Vector<T> v[4];
    for (int t = 0; t < 4; ++t) v[t] = hn::Load(d, from + t * kBlock);
    transpose_blocks(d, v);
    for (int r = 0; r < 4; ++r) store_blocks(d, v[r], to + r * stride, stride);
  }
#endif
}

// Calls tile(i, t) for whole tiles of a vector of rows x 4 columns, row by row of tiles so that whole cache lines are
// used, and element(i, t) for the rest.
template <typename T, class Tile, class Element>
HWY_INLINE void for_transposed(int64_t rows, int64_t columns, const Tile& tile, const Element& element) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  const int64_t even_rows = kTransposesBlocks<T> ? rows / lanes * lanes : 0;
  const int64_t even_columns = kTransposesBlocks<T> ? columns / 4 * 4 : 0;
  for (int64_t i = 0; i < even_rows; i += lanes) {
    for (int64_t t = 0; t < even_columns; t += 4) tile(i, t);
  }
  for (int64_t t = 0; t < columns; ++t) {
    for (int64_t i = t < even_columns ? even_rows : 0; i < rows; ++i) element(i, t);
  }
}

// to[t][i] = from[i * stride + t] for i < rows, zero in the lanes up to `padded`. Rows of `to` have kBlock elements.
template <int64_t kBlock = kQueryBlock, typename T>
void pack_rows(const T* HWY_RESTRICT from, int64_t stride, int64_t rows, int64_t padded, int64_t columns,
               T* HWY_RESTRICT to) {
  for_transposed<T>(
      rows, columns,
      [&](int64_t i, int64_t t) { pack_tile<kBlock>(from + i * stride + t, stride, to + t * kBlock + i); },
      [&](int64_t i, int64_t t) { to[t * kBlock + i] = from[i * stride + t]; });
  if (rows == padded) return;
  for (int64_t t = 0; t < columns; ++t) std::fill(to + t * kBlock + rows, to + t * kBlock + padded, T(0));
}

// to[i * stride + t] = from[t][i].
template <int64_t kBlock = kQueryBlock, typename T>
void unpack_rows(const T* HWY_RESTRICT from, int64_t rows, int64_t columns, T* HWY_RESTRICT to, int64_t stride) {
  for_transposed<T>(
      rows, columns,
      [&](int64_t i, int64_t t) { unpack_tile<kBlock>(from + t * kBlock + i, to + i * stride + t, stride); },
      [&](int64_t i, int64_t t) { to[i * stride + t] = from[t * kBlock + i]; });
}

GEOSFT_SIMD_END();
#endif
