// SPDX-License-Identifier: Apache-2.0
// Computes polynomial_attention pair by pair, for a block of queries (lanes) and a block of keys (rows), for items
// that are too short for monomials, and under a causal mask for the tokens of one block among themselves.
#if defined(GEOSFT_POLYNOMIAL_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_POLYNOMIAL_PAIRS_INL_H_
#undef GEOSFT_POLYNOMIAL_PAIRS_INL_H_
#else
#define GEOSFT_POLYNOMIAL_PAIRS_INL_H_
#endif

#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/cpu/register_tiles-inl.h"

GEOSFT_SIMD_BEGIN();

// Returns the lanes that a row is paired with when both blocks are the same tokens.
template <typename T>
HWY_INLINE auto is_reached(Reach reach, int64_t row, int64_t lane) {
  const Tag<T> d;
  const Vector<T> query = hn::Iota(d, static_cast<T>(lane)), key = hn::Set(d, static_cast<T>(row));
  return reach == Reach::before ? hn::Le(key, query) : hn::Ge(key, query);
}

// Writes T_g(x . x') to `weight`, if that is not null, and with kSlope T_{g-1}(x . x') to `slope`, [rows][kTokenBlock].
template <typename T, bool kSlope>
struct PolynomialTile {
  const T* HWY_RESTRICT query;
  const T* HWY_RESTRICT key;
  int64_t c, stride;                   // of `key`
  const T* HWY_RESTRICT coefficients;  // 1 / t! for t <= degree
  int64_t degree;
  T* HWY_RESTRICT weight;
  T* HWY_RESTRICT slope;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    const Tag<T> d;
    Vector<T> score[J][I];
    product<J, I, kTokenBlock>(query + i0, key + j0 * stride, stride, c, MulPlus(), score);
    for (int j = 0; j < J; ++j) {
      for (int i = 0; i < I; ++i) {
        Vector<T> value = hn::Set(d, coefficients[degree]), derivative = hn::Zero(d);
        for (int64_t t = degree; t-- > 0;) {
          if (kSlope) derivative = hn::MulAdd(derivative, score[j][i], value);
          value = hn::MulAdd(value, score[j][i], hn::Set(d, coefficients[t]));
        }
        const int64_t at = (j0 + j) * kTokenBlock + i0 + i * kLanes<T>;
        if (weight) hn::Store(value, d, weight + at);
        if (kSlope) hn::Store(derivative, d, slope + at);
      }
    }
  }
};

// Returns a vector times the one that is stored where the product goes.
template <typename T>
struct TimesStored {
  HWY_INLINE Vector<T> operator()(Vector<T> v, const T* at) const { return hn::Mul(v, hn::Load(Tag<T>(), at)); }
};

// slope *= Y . Y'.
template <typename T>
struct SlopeTile {
  const T* HWY_RESTRICT query;
  const T* HWY_RESTRICT key;
  int64_t columns;
  T* HWY_RESTRICT slope;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    Vector<T> dot[J][I];
    product<J, I, kTokenBlock>(query + i0, key + j0 * columns, columns, columns, MulPlus(), dot);
    store_tile<kTokenBlock>(dot, slope + j0 * kTokenBlock + i0, TimesStored<T>());
  }
};

// out [columns][kTokenBlock] += sum_j weight_j rows_jt. kMasked: both blocks are the same tokens; masked pairs are
// skipped, because 0 * NaN would propagate.
template <typename T, bool kMasked>
struct WeightedRows {
  const T* HWY_RESTRICT weight;
  const T* HWY_RESTRICT rows;
  int64_t stride, count;
  Reach reach;
  T* HWY_RESTRICT out;

  template <int J, int I>
  HWY_INLINE void run(int64_t t0, int64_t i0) const {
    const Tag<T> d;
    Vector<T> sum[J][I];
    load_tile<kTokenBlock>(out + t0 * kTokenBlock + i0, sum);
    for (int64_t j = 0; j < count; ++j) {
      for (int i = 0; i < I; ++i) {
        const Vector<T> w = hn::Load(d, weight + j * kTokenBlock + i0 + i * kLanes<T>);
        for (int t = 0; t < J; ++t) {
          const Vector<T> more = hn::MulAdd(w, hn::Set(d, rows[j * stride + t0 + t]), sum[t][i]);
          sum[t][i] = kMasked ? hn::IfThenElse(is_reached<T>(reach, j, i0 + i * kLanes<T>), more, sum[t][i]) : more;
        }
      }
    }
    store_tile<kTokenBlock>(sum, out + t0 * kTokenBlock + i0, Unchanged());
  }
};

GEOSFT_SIMD_END();
#endif
