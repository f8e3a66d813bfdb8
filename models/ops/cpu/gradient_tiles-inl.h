// SPDX-License-Identifier: Apache-2.0
// Computes tiles of the backward pass: the gradients of scores, values, queries and keys from that of the output (SFT
// section 4.3).
#if defined(GEOSFT_GRADIENT_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_GRADIENT_TILES_INL_H_
#undef GEOSFT_GRADIENT_TILES_INL_H_
#else
#define GEOSFT_GRADIENT_TILES_INL_H_
#endif

#include "models/ops/cpu/register_tiles-inl.h"

GEOSFT_SIMD_BEGIN();
// Computes the gradient of S, and from it those of sum_t max(q, k) (dr) and, with a bias, of add (ds).
template <typename T, bool kBiased>
struct ScoreGradient {
  const T* HWY_RESTRICT grad_output;  // e [cv][kQueryBlock]
  const T* HWY_RESTRICT v;
  int64_t stride, cv;
  T scale;
  const T* HWY_RESTRICT delta;
  const T* HWY_RESTRICT positive;
  const T* HWY_RESTRICT mul;
  T* HWY_RESTRICT ds;
  T* HWY_RESTRICT dr;
  T* HWY_RESTRICT dr_sum;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    const Tag<T> d;
    Vector<T> sum[J][I];
    product<J, I>(grad_output + i0, v + j0 * stride, stride, cv, MulPlus(), sum);
    const Vector<T> by = hn::Set(d, scale);
    // GCC keeps the sums in memory unless it unrolls these loops in full.
#pragma GCC unroll 4
    for (int i = 0; i < I; ++i) {
      const Vector<T> mean = hn::Load(d, delta + i0 + i * kLanes<T>);
      Vector<T> total = hn::Load(d, dr_sum + i0 + i * kLanes<T>);
#pragma GCC unroll 4
      for (int j = 0; j < J; ++j) {
        const int64_t at = (j0 + j) * kQueryBlock + i0 + i * kLanes<T>;
        const auto active = hn::Gt(hn::Load(d, positive + at), hn::Zero(d));
        Vector<T> g = hn::IfThenElseZero(active, hn::Sub(sum[j][i], mean));
        if constexpr (kBiased) hn::Store(g, d, ds + at);
        g = hn::Mul(g, by);
        if constexpr (kBiased) g = hn::Mul(g, hn::Load(d, mul + at));
        hn::Store(g, d, dr + at);
        total = hn::Add(total, g);
      }
      hn::Store(total, d, dr_sum + i0 + i * kLanes<T>);
    }
  }
};

// Returns sum + x where `mask` is set, else sum; one instruction on targets with mask registers.
template <typename T, class M>
HWY_INLINE Vector<T> add_where(M mask, Vector<T> x, Vector<T> sum) {
  if constexpr (HWY_TARGET == HWY_AVX3) return hn::IfThenElse(mask, hn::Add(sum, x), sum);
  return hn::Add(sum, hn::IfThenElseZero(mask, x));
}

// If the key is larger, dr goes to the key: key_grad[j][t] += sum_i dr[j][i], and the same amount is accumulated in
// lost[t][i], to be subtracted from the query's. Register tiles are keys x columns; the loop runs over queries.
template <typename T, int J, int C>
HWY_INLINE void max_gradient_tile(const T* HWY_RESTRICT q, const T* HWY_RESTRICT k, int64_t stride,
                                  const T* HWY_RESTRICT dr, int64_t padded, T* HWY_RESTRICT lost,
                                  T* HWY_RESTRICT key_grad, int64_t grad_stride) {
  const Tag<T> d;
  Vector<T> sum[J][C];
  for (int j = 0; j < J; ++j) {
    for (int t = 0; t < C; ++t) sum[j][t] = hn::Zero(d);
  }
  for (int64_t i = 0; i < padded; i += kLanes<T>) {
    Vector<T> g[J];
    for (int j = 0; j < J; ++j) g[j] = hn::Load(d, dr + j * kQueryBlock + i);
    for (int t = 0; t < C; ++t) {
      const Vector<T> query = hn::Load(d, q + t * kQueryBlock + i);
      Vector<T> away = hn::Load(d, lost + t * kQueryBlock + i);
      for (int j = 0; j < J; ++j) {
        const auto larger = hn::Lt(query, hn::Set(d, k[j * stride + t]));
        sum[j][t] = add_where<T>(larger, g[j], sum[j][t]);
        away = add_where<T>(larger, g[j], away);
      }
      hn::Store(away, d, lost + t * kQueryBlock + i);
    }
  }
  for (int j = 0; j < J; ++j) add_lane_sums<T, C>(sum[j], key_grad + j * grad_stride);
}

// value_grad[j][t] += sum_i positive[j][i] grad_output[t][i].
template <typename T, int J, int C>
HWY_INLINE void value_gradient_tile(const T* HWY_RESTRICT grad_output, const T* HWY_RESTRICT positive, int64_t padded,
                                    T* HWY_RESTRICT value_grad, int64_t stride) {
  const Tag<T> d;
  Vector<T> sum[J][C];
  for (int j = 0; j < J; ++j) {
    for (int t = 0; t < C; ++t) sum[j][t] = hn::Zero(d);
  }
  for (int64_t i = 0; i < padded; i += kLanes<T>) {
    Vector<T> g[C];
    for (int t = 0; t < C; ++t) g[t] = hn::Load(d, grad_output + t * kQueryBlock + i);
    for (int j = 0; j < J; ++j) {
      const Vector<T> p = hn::Load(d, positive + j * kQueryBlock + i);
      for (int t = 0; t < C; ++t) sum[j][t] = hn::MulAdd(p, g[t], sum[j][t]);
    }
  }
  for (int j = 0; j < J; ++j) add_lane_sums<T, C>(sum[j], value_grad + j * stride);
}

// Calls body.run<J, C>(j, t) for register tiles of J keys and C columns: four columns, as the lanes of four vectors are
// summed together.
template <class Body>
HWY_INLINE void for_column_tiles(int64_t keys, int64_t columns, const Body& body) {
  for_tiles<kManyRegisters ? 4 : 2, 4>(keys, columns, 1, body);
}

template <typename T>
struct MaxGradient {
  const T* q;
  const T* k;
  int64_t stride;
  const T* dr;
  int64_t padded;
  T* lost;
  T* key_grad;
  int64_t grad_stride;
  template <int J, int C>
  HWY_INLINE void run(int64_t j, int64_t t) const {
    max_gradient_tile<T, J, C>(q + t * kQueryBlock, k + j * stride + t, stride, dr + j * kQueryBlock, padded,
                               lost + t * kQueryBlock, key_grad + j * grad_stride + t, grad_stride);
  }
};

template <typename T>
struct ValueGradient {
  const T* grad_output;
  const T* positive;
  int64_t padded;
  T* value_grad;
  int64_t stride;
  template <int J, int C>
  HWY_INLINE void run(int64_t j, int64_t t) const {
    value_gradient_tile<T, J, C>(grad_output + t * kQueryBlock, positive + j * kQueryBlock, padded,
                                 value_grad + j * stride + t, stride);
  }
};

GEOSFT_SIMD_END();
#endif
