// SPDX-License-Identifier: Apache-2.0
// Computes a tile of scores of one head and its sums, for the forward and the backward pass (SFT section 4.3).
#if defined(GEOSFT_SCORE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_SCORE_TILE_INL_H_
#undef GEOSFT_SCORE_TILE_INL_H_
#else
#define GEOSFT_SCORE_TILE_INL_H_
#endif

#include "models/ops/cpu/attention_kernels.h"
#include "models/ops/cpu/register_tiles-inl.h"

GEOSFT_SIMD_BEGIN();
// Writes relu(S) of a tile to `positive`. In the forward pass adds its sum over the keys to row_sum; in the backward
// pass with a bias writes sum_t max(q, k) / sqrt(c) to `raw`. What is absent is known at compile time: branches in the
// loop over a register tile would keep its sums in memory.
template <typename T, bool kBiased, bool kForward>
struct ScoreTile {
  const T* HWY_RESTRICT q;
  const T* HWY_RESTRICT k;
  int64_t stride, c;
  T scale;
  BiasTile<T> bias;
  T* HWY_RESTRICT positive;
  T* HWY_RESTRICT row_sum;
  T* HWY_RESTRICT raw;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    const Tag<T> d;
    Vector<T> sum[J][I];
    const MaxPlus<Vector<T>> combine{hn::Set(d, scale)};
    product<J, I>(q + i0, k + j0 * stride, stride, c, combine, sum);
    for (int i = 0; i < I; ++i) {
      Vector<T> total = kForward ? hn::Load(d, row_sum + i0 + i * kLanes<T>) : hn::Zero(d);
      for (int j = 0; j < J; ++j) {
        const int64_t at = (j0 + j) * kQueryBlock + i0 + i * kLanes<T>;
        Vector<T> s = combine.finish(sum[j][i]);
        if constexpr (kBiased) {
          if constexpr (!kForward) hn::Store(s, d, raw + at);
          s = hn::Add(hn::Mul(s, hn::Load(d, bias.mul + at)), hn::Load(d, bias.add + at));
        }
        s = positive_part(d, s);
        hn::Store(s, d, positive + at);
        total = hn::Add(total, s);
      }
      if constexpr (kForward) hn::Store(total, d, row_sum + i0 + i * kLanes<T>);
    }
  }
};

// out[t][i] += sum_j tile[j][i] v[j * stride + t]; register tiles of columns t.
template <typename T>
struct WeightedValues {
  const T* HWY_RESTRICT tile;
  const T* HWY_RESTRICT v;
  int64_t stride, keys;
  T* HWY_RESTRICT out;

  template <int J, int I>
  HWY_INLINE void run(int64_t t0, int64_t i0) const {
    const Tag<T> d;
    Vector<T> sum[J][I];
    load_tile<kQueryBlock>(out + t0 * kQueryBlock + i0, sum);
    for (int64_t j = 0; j < keys; ++j) {
      Vector<T> p[I];
      for (int i = 0; i < I; ++i) p[i] = hn::Load(d, tile + j * kQueryBlock + i0 + i * kLanes<T>);
      for (int t = 0; t < J; ++t) {
        const Vector<T> value = hn::Set(d, v[j * stride + t0 + t]);
        for (int i = 0; i < I; ++i) sum[t][i] = hn::MulAdd(p[i], value, sum[t][i]);
      }
    }
    store_tile<kQueryBlock>(sum, out + t0 * kQueryBlock + i0, Unchanged());
  }
};

GEOSFT_SIMD_END();
#endif
