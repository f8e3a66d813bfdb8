// SPDX-License-Identifier: Apache-2.0
// Rectangles of keys x queries cut into register tiles, and the inner product of one.
#if defined(GEOSFT_REGISTER_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_REGISTER_TILES_INL_H_
#undef GEOSFT_REGISTER_TILES_INL_H_
#else
#define GEOSFT_REGISTER_TILES_INL_H_
#endif

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {
// Keys of a register tile; four vectors of queries go with them. AVX-512 and NEON have 32 registers, others 16.
constexpr int kTileRows = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;

template <int J, class Body>
HWY_INLINE void tile_row(int64_t j, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t i = 0;
  for (; i + 4 <= vectors; i += 4) body.template run<J, 4>(j, i * lanes);
  if (i + 2 <= vectors) {
    body.template run<J, 2>(j, i * lanes);
    i += 2;
  }
  if (i < vectors) body.template run<J, 1>(j, i * lanes);
}

// body.run<J, I>(j, i) for register tiles of J rows and I vectors that cover rows x vectors, rows outermost.
template <class Body>
HWY_INLINE void for_tiles(int64_t rows, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t j = 0;
  for (; j + kTileRows <= rows; j += kTileRows) tile_row<kTileRows>(j, vectors, lanes, body);
  for (; j < rows; ++j) tile_row<1>(j, vectors, lanes, body);
}

struct MaxPlus {
  template <class V>
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return hn::Add(sum, hn::Max(a, b));
  }
};
struct MulPlus {
  template <class V>
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return hn::MulAdd(a, b, sum);
  }
};

// sum[j][i] = sum_t combine(queries[t][i], keys[j * stride + t]); rows of `queries` are kBlock long.
template <int J, int I, int64_t kBlock = kQueryBlock, typename T, class Combine>
HWY_INLINE void product(const T* HWY_RESTRICT queries, const T* HWY_RESTRICT keys, int64_t stride, int64_t depth,
                        const Combine& combine, Vector<T> (&sum)[J][I]) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) sum[j][i] = hn::Zero(d);
  }
  for (int64_t t = 0; t < depth; ++t) {
    Vector<T> query[I];
    for (int i = 0; i < I; ++i) query[i] = hn::Load(d, queries + t * kBlock + i * lanes);
    for (int j = 0; j < J; ++j) {
      const Vector<T> key = hn::Set(d, keys[j * stride + t]);
      for (int i = 0; i < I; ++i) sum[j][i] = combine(query[i], key, sum[j][i]);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
