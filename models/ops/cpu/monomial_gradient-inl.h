// SPDX-License-Identifier: Apache-2.0
// Computes the gradient of tokens from the gradient of sums over their monomials.
#if defined(GEOSFT_MONOMIAL_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_MONOMIAL_GRADIENT_INL_H_
#undef GEOSFT_MONOMIAL_GRADIENT_INL_H_
#else
#define GEOSFT_MONOMIAL_GRADIENT_INL_H_
#endif

#include "models/ops/cpu/monomial_tiles-inl.h"

GEOSFT_SIMD_BEGIN();

// Adds to gradient [channels][kTokenBlock], from the highest degree down: the derivative by a monomial is the product
// of y with its state, plus the contributions of its multiples of the next degree. slopes [parents][kTokenBlock] is
// scratch.
template <typename T>
struct PullBackColumns {
  const MonomialBasis& basis;
  StateColumns<T> state;
  const T* HWY_RESTRICT x;
  const T* HWY_RESTRICT y;
  const T* HWY_RESTRICT monomials;
  int64_t padded;
  T* HWY_RESTRICT slopes;
  T* HWY_RESTRICT gradient;

  template <int J>
  void run(int64_t first) const {
    for (int64_t i = 0; i < padded; i += kTokenVectors * kLanes<T>) {
      Vector<T> by[J][kTokenVectors];
      load_columns<J, T>(y, first, i, by);
      for (int64_t degree = basis.degree; degree > 1; --degree) {
        for (int64_t channel = 0; channel < basis.channels; ++channel) {
          const MonomialRun& run = basis.runs[(degree - 1) * basis.channels + channel];
          if (degree == basis.degree) {
            channel == 0 ? pull<J, true, true>(run, first, i, by) : pull<J, true, false>(run, first, i, by);
          } else {
            channel == 0 ? pull<J, false, true>(run, first, i, by) : pull<J, false, false>(run, first, i, by);
          }
        }
      }
      for (int64_t channel = 0; channel < (basis.degree > 0 ? basis.channels : 0); ++channel) {
        pull_channel(channel, first, i, by);
      }
    }
  }

  // Handles the monomials that are channels; the derivative by the constant is not needed.
  template <int J>
  HWY_INLINE void pull_channel(int64_t channel, int64_t first, int64_t i0,
                               const Vector<T> (&by)[J][kTokenVectors]) const {
    const Tag<T> d;
    T* const total = gradient + channel * kTokenBlock + i0;
    const T* const passed = slopes + (channel + 1) * kTokenBlock + i0;
    Vector<T> slope[kTokenVectors];
    for (int n = 0; n < kTokenVectors; ++n)
      slope[n] = basis.degree > 1 ? hn::Load(d, passed + n * kLanes<T>) : hn::Zero(d);
    add_columns(state.at(channel + 1, first), by, slope);
    for (int n = 0; n < kTokenVectors; ++n) {
      hn::Store(hn::Add(hn::Load(d, total + n * kLanes<T>), slope[n]), d, total + n * kLanes<T>);
    }
  }

  template <int J>
  static HWY_INLINE void add_columns(const T* HWY_RESTRICT at, const Vector<T> (&by)[J][kTokenVectors],
                                     Vector<T> (&slope)[kTokenVectors]) {
    const Tag<T> d;
    for (int t = 0; t < J; ++t) {
      const Vector<T> weight = hn::Set(d, at[t * kLanes<T>]);
      for (int n = 0; n < kTokenVectors; ++n) slope[n] = hn::MulAdd(by[t][n], weight, slope[n]);
    }
  }

  // kHighest: the monomials of this run have no contributions from a higher degree. kFirst: their parents have none
  // yet; the first run of a degree covers all parents.
  template <int J, bool kHighest, bool kFirst>
  HWY_INLINE void pull(const MonomialRun& run, int64_t first, int64_t i0,
                       const Vector<T> (&by)[J][kTokenVectors]) const {
    const Tag<T> d;
    Vector<T> factor[kTokenVectors], total[kTokenVectors];
    for (int n = 0; n < kTokenVectors; ++n) {
      factor[n] = hn::Load(d, x + run.channel * kTokenBlock + i0 + n * kLanes<T>);
      total[n] = hn::Load(d, gradient + run.channel * kTokenBlock + i0 + n * kLanes<T>);
    }
    // Copies, so that the compiler does not reload members after every store.
    const StateColumns<T> columns = state;
    const int64_t to = run.to, count = run.count;
    const T* HWY_RESTRICT made = monomials + run.from * kTokenBlock + i0;
    const T* slope_at = slopes + to * kTokenBlock + i0;
    T* parent = slopes + run.from * kTokenBlock + i0;
    for (int64_t p = 0; p < count; ++p, slope_at += kTokenBlock, parent += kTokenBlock, made += kTokenBlock) {
      Vector<T> slope[kTokenVectors];
      for (int n = 0; n < kTokenVectors; ++n) {
        slope[n] = kHighest ? hn::Zero(d) : hn::Load(d, slope_at + n * kLanes<T>);
      }
      add_columns(columns.at(to + p, first), by, slope);
      for (int n = 0; n < kTokenVectors; ++n) {
        T* const passed = parent + n * kLanes<T>;
        hn::Store(kFirst ? hn::Mul(factor[n], slope[n]) : hn::MulAdd(factor[n], slope[n], hn::Load(d, passed)), d,
                  passed);
        total[n] = hn::MulAdd(hn::Load(d, made + n * kLanes<T>), slope[n], total[n]);
      }
    }
    for (int n = 0; n < kTokenVectors; ++n) {
      hn::Store(total[n], d, gradient + run.channel * kTokenBlock + i0 + n * kLanes<T>);
    }
  }
};

GEOSFT_SIMD_END();
#endif
