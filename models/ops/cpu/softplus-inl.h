// SPDX-License-Identifier: Apache-2.0
// Computes softplus and its derivative on vectors.
#if defined(GEOSFT_SOFTPLUS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_SOFTPLUS_INL_H_
#undef GEOSFT_SOFTPLUS_INL_H_
#else
#define GEOSFT_SOFTPLUS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <limits>

#include "models/ops/cpu/register_tiles-inl.h"

GEOSFT_SIMD_BEGIN();
// The functions here work on arrays of vectors, each step over all of them: a single polynomial is one long dependency
// chain, several interleaved ones keep the processor busy.

// Evaluates c[0] + c[1] x + … + c[N - 1] x^(N - 1).
template <class D, class V, int I, size_t N>
HWY_INLINE void polynomial(D d, const V (&x)[I], const float (&c)[N], V (&sum)[I]) {
  for (int i = 0; i < I; ++i) sum[i] = hn::Set(d, c[N - 1]);
  for (size_t n = N - 1; n-- > 0;) {
    for (int i = 0; i < I; ++i) sum[i] = hn::MulAdd(sum[i], x[i], hn::Set(d, c[n]));
  }
}

// Computes e^x for -87 <= x <= 0 (smaller x are clamped to -87), relative error 4e-7: e^x = 2^n e^r with |r| <= log(2)
// / 2.
template <class D, class V, int I>
HWY_INLINE void exp_below_zero(D d, const V (&x)[I], V (&result)[I]) {
  static constexpr float kCoefficients[] = {1.0000001192092896f,  0.9999997019767761f,  0.49998894333839417f,
                                            0.16667574644088745f, 0.04191538318991661f, 0.008297652006149292f};
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  const hn::RebindToSigned<D> integers;
  V shifted[I], rest[I];
  for (int i = 0; i < I; ++i) {
    const V clamped = hn::Max(x[i], hn::Set(d, -87.0f));
    shifted[i] = hn::MulAdd(clamped, hn::Set(d, 1.44269504088896341f), hn::Set(d, kRound));
    const V whole = hn::Sub(shifted[i], hn::Set(d, kRound));
    if constexpr (HWY_NATIVE_FMA) {  // the product is not rounded, and log(2) is a float to 2e-9
      rest[i] = hn::NegMulAdd(whole, hn::Set(d, 0.69314718055994531f), clamped);
    } else {  // log(2) in two parts: the first times n is exact
      rest[i] = hn::NegMulAdd(whole, hn::Set(d, 1.428606820309417e-6f),
                              hn::NegMulAdd(whole, hn::Set(d, 0.693145751953125f), clamped));
    }
  }
  polynomial(d, rest, kCoefficients, result);
  for (int i = 0; i < I; ++i) {
    const auto power = hn::ShiftLeft<23>(hn::BitCast(integers, shifted[i]));  // n, added to the exponent
    result[i] = hn::BitCast(d, hn::Add(hn::BitCast(integers, result[i]), power));
  }
}

// Computes log(1 + e) / e for 0 <= e <= 1, relative error 3e-7.
template <class D, class V, int I>
HWY_INLINE void log1p_ratio(D d, const V (&e)[I], V (&result)[I]) {
  static constexpr float kCoefficients[] = {0.9999999403953552f,  -0.4999949336051941f,   0.3331909775733948f,
                                            -0.2484297901391983f, 0.1910599321126938f,    -0.13663214445114136f,
                                            0.07822556048631668f, -0.029504986479878426f, 0.005232629366219044f};
  polynomial(d, e, kCoefficients, result);
}

// Computes log(1 + e^x) without overflow, and e^-|x| into `small`; float32 to 4e-7 relative, float64 to its last bits.
template <class D, class V, int I>
HWY_INLINE void softplus(D d, const V (&x)[I], V (&result)[I], V (&small)[I]) {
  V negative[I];
  for (int i = 0; i < I; ++i) negative[i] = hn::Or(x[i], hn::SignBit(d));
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    exp_below_zero(d, negative, small);
    log1p_ratio(d, small, result);
    for (int i = 0; i < I; ++i) result[i] = hn::MulAdd(small[i], result[i], hn::Max(x[i], hn::Zero(d)));
  } else {
    for (int i = 0; i < I; ++i) small[i] = hn::Exp(d, negative[i]);
    for (int i = 0; i < I; ++i) result[i] = hn::Add(hn::Max(x[i], hn::Zero(d)), hn::Log1p(d, small[i]));
  }
}

// Returns 1 / x for 1 <= x <= 2.
template <class D, class V>
HWY_INLINE V reciprocal(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V guess = hn::ApproximateReciprocal(x);  // at least 11 bits; one Newton step doubles them
    return hn::Mul(guess, hn::NegMulAdd(guess, x, hn::Set(d, 2)));
  } else {
    return hn::Div(hn::Set(d, 1), x);
  }
}

// Returns 1 / (1 + e^-x), from x and the `small` of softplus.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x, V small) {
  const V one = hn::Set(d, 1);
  return hn::Mul(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one), reciprocal(d, hn::Add(one, small)));
}

// Computes softplus of a tile [keys][kQueryBlock], where before(j, i) returns a vector of arguments, and its derivative
// into `slope` if that is not null. `before` may read from `to`.
template <typename T, class Before>
struct SoftplusTile {
  Before before;
  T* HWY_RESTRICT to;
  T* HWY_RESTRICT slope;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    const Tag<T> d;
    for (int64_t j = j0; j < j0 + J; ++j) {
      const int64_t at = j * kQueryBlock + i0;
      Vector<T> x[I], result[I], small[I];
      for (int i = 0; i < I; ++i) x[i] = before(j, i0 + i * kLanes<T>);
      softplus(d, x, result, small);
      for (int i = 0; i < I; ++i) hn::Store(result[i], d, to + at + i * kLanes<T>);
      if (!slope) continue;
      for (int i = 0; i < I; ++i) hn::Store(sigmoid(d, x[i], small[i]), d, slope + at + i * kLanes<T>);
    }
  }
};

// Covers rows [0, keys) x lanes [0, padded) of a tile.
template <typename T, class Before>
HWY_INLINE void softplus_of_tile(int64_t keys, int64_t padded, const SoftplusTile<T, Before>& tile) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  for_tiles<kTileRows, 4>(keys, padded / lanes, lanes, tile);  // four interleaved polynomials
}

// Arguments of a softplus that are already in memory.
template <typename T>
struct StoredTile {
  const T* values;
  HWY_INLINE Vector<T> operator()(int64_t j, int64_t i) const {
    return hn::Load(Tag<T>(), values + j * kQueryBlock + i);
  }
};

// to[h] = sum_j softplus(x[j * width + h]) for every h < width.
template <typename T>
void softplus_sums(const T* x, int64_t rows, int64_t width, T* to) {
  constexpr int kVectors = 4;
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), count = rows * width, step = kVectors * lanes;
  HWY_ALIGN T buffer[size_t{kVectors} * HWY_MAX_BYTES / sizeof(T)];
  std::fill_n(to, width, T(0));
  for (int64_t at = 0, h = 0; at < count; at += step) {
    const int64_t here = std::min(step, count - at);
    std::fill(std::copy_n(x + at, here, buffer), buffer + step, T(0));
    Vector<T> before[kVectors], result[kVectors], small[kVectors];
    for (int i = 0; i < kVectors; ++i) before[i] = hn::Load(d, buffer + i * lanes);
    softplus(d, before, result, small);
    for (int i = 0; i < kVectors; ++i) {
      // softplus(-inf) is exactly zero: without any positive score the denominator may consist of it alone.
      const auto none = hn::Eq(before[i], hn::Set(d, -std::numeric_limits<T>::infinity()));
      hn::Store(hn::IfThenZeroElse(none, result[i]), d, buffer + i * lanes);
    }
    for (int64_t i = 0; i < here; ++i) {
      to[h] += buffer[i];
      h = h + 1 == width ? 0 : h + 1;
    }
  }
}

GEOSFT_SIMD_END();
#endif
