// SPDX-License-Identifier: Apache-2.0
// Computes products of a vector with many rows, and weighted sums of rows, which are padded to whole vectors with
// zeros.
#if defined(GEOSFT_ROW_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ROW_PRODUCTS_INL_H_
#undef GEOSFT_ROW_PRODUCTS_INL_H_
#else
#define GEOSFT_ROW_PRODUCTS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

#include "models/ops/cpu/primal_units.h"
#include "models/ops/cpu/vectors-inl.h"

GEOSFT_SIMD_BEGIN();

// Aligned rows of `width` elements, padded to whole vectors.
template <typename T>
struct PaddedRows {
  PaddedRows(int64_t count, int64_t width)
      : rows(count), columns(width), stride(padded_rows<T>(width)), memory(count * stride) {}

  T* operator[](int64_t row) const { return memory.get() + row * stride; }
  void clear() const { std::fill_n(memory.get(), rows * stride, T(0)); }
  void load(const StridedRows<const T>& from) const {
    for (int64_t i = 0; i < rows; ++i) load(i, from[i]);
  }
  void load(int64_t row, const T* from, T scale = T(1)) const {
    T* to = (*this)[row];
    for (int64_t t = 0; t < columns; ++t) to[t] = scale * from[t];
    std::fill(to + columns, to + stride, T(0));
  }
  void store(const StridedRows<T>& to, T scale = T(1)) const {
    for (int64_t i = 0; i < rows; ++i) {
      const T* from = (*this)[i];
      for (int64_t t = 0; t < columns; ++t) to[i][t] = scale * from[t];
    }
  }

  int64_t rows, columns, stride;
  Scratch<T> memory;
};

// Rows list[0] - first, list[1] - first, … of `rows`; without a list rows 0, 1, ….
template <typename T>
struct RowList {
  const PaddedRows<T>& rows;
  int64_t count;
  const int64_t* list = nullptr;
  int64_t first = 0;
  T* operator[](int64_t n) const { return rows[list == nullptr ? n : list[n] - first]; }
};

// Returns x . y of padded rows, at least one of them padded with zeros.
template <typename T>
T row_product(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, int64_t width) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector<T> sum = hn::Zero(d);
  for (int64_t t = 0; t < width; t += lanes) sum = hn::MulAdd(hn::Load(d, x + t), hn::Load(d, y + t), sum);
  return lane_sum<T>(sum);
}

// to[n] = rows[n] . y; y is padded.
template <typename T>
void row_products(const RowList<T>& rows, const T* HWY_RESTRICT y, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = rows.rows.stride;
  std::fill_n(to, rows.count, T(0));
  int64_t n = 0;
  for (; n + 4 <= rows.count; n += 4) {
    const T *r0 = rows[n], *r1 = rows[n + 1], *r2 = rows[n + 2], *r3 = rows[n + 3];
    Vector<T> sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int64_t t = 0; t < width; t += lanes) {
      const Vector<T> by = hn::Load(d, y + t);
      sums[0] = hn::MulAdd(hn::Load(d, r0 + t), by, sums[0]);
      sums[1] = hn::MulAdd(hn::Load(d, r1 + t), by, sums[1]);
      sums[2] = hn::MulAdd(hn::Load(d, r2 + t), by, sums[2]);
      sums[3] = hn::MulAdd(hn::Load(d, r3 + t), by, sums[3]);
    }
    add_lane_sums<T, 4>(sums, to + n);
  }
  for (; n < rows.count; ++n) to[n] = row_product(rows[n], y, width);
}

// to += sum_n weight[n] rows[n]; `to` is padded.
template <typename T>
void add_weighted_rows(const RowList<T>& rows, const T* HWY_RESTRICT weight, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = rows.rows.stride;
  int64_t n = 0;
  for (; n + 4 <= rows.count; n += 4) {
    const T *r0 = rows[n], *r1 = rows[n + 1], *r2 = rows[n + 2], *r3 = rows[n + 3];
    const Vector<T> w0 = hn::Set(d, weight[n]), w1 = hn::Set(d, weight[n + 1]);
    const Vector<T> w2 = hn::Set(d, weight[n + 2]), w3 = hn::Set(d, weight[n + 3]);
    for (int64_t t = 0; t < width; t += lanes) {
      const Vector<T> low = hn::MulAdd(w1, hn::Load(d, r1 + t), hn::Mul(w0, hn::Load(d, r0 + t)));
      const Vector<T> high = hn::MulAdd(w3, hn::Load(d, r3 + t), hn::Mul(w2, hn::Load(d, r2 + t)));
      hn::Store(hn::Add(hn::Load(d, to + t), hn::Add(low, high)), d, to + t);
    }
  }
  for (; n < rows.count; ++n) {
    const Vector<T> by = hn::Set(d, weight[n]);
    for (int64_t t = 0; t < width; t += lanes) {
      hn::Store(hn::MulAdd(by, hn::Load(d, rows[n] + t), hn::Load(d, to + t)), d, to + t);
    }
  }
}

// rows[n] += weight[n] y for all n; y is padded.
template <typename T>
void add_to_rows(const RowList<T>& rows, const T* HWY_RESTRICT weight, const T* HWY_RESTRICT y) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = rows.rows.stride;
  for (int64_t n = 0; n < rows.count; ++n) {
    const Vector<T> by = hn::Set(d, weight[n]);
    T* HWY_RESTRICT to = rows[n];
    for (int64_t t = 0; t < width; t += lanes) {
      hn::Store(hn::MulAdd(by, hn::Load(d, y + t), hn::Load(d, to + t)), d, to + t);
    }
  }
}

// A strided matrix: a(m, k) = data[m * row + k * step].
template <typename T>
struct Coefficients {
  const T* data;
  int64_t row, step;
  T operator()(int64_t m, int64_t k) const { return data[m * row + k * step]; }
};

// to[m] += sum_k a(m, k) b[k] for k < depth, in `kRows` rows from m on and `kVectors` vectors of columns from t on.
template <int kRows, int kVectors, typename T>
HWY_INLINE void add_product_tile(const Coefficients<T>& a, int64_t m, int64_t depth, const PaddedRows<T>& b, int64_t t,
                                 const PaddedRows<T>& to) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector<T> sums[kRows * kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r * kVectors + v] = hn::Load(d, to[m + r] + t + v * lanes);
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector<T> row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, b[k] + t + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const Vector<T> by = hn::Set(d, a(m + r, k));
      for (int v = 0; v < kVectors; ++v) sums[r * kVectors + v] = hn::MulAdd(by, row[v], sums[r * kVectors + v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[r * kVectors + v], d, to[m + r] + t + v * lanes);
  }
}

template <int kRows, typename T>
HWY_INLINE void add_product_rows(const Coefficients<T>& a, int64_t m, int64_t depth, const PaddedRows<T>& b,
                                 const PaddedRows<T>& to) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t t = 0;
  for (; t + 2 * lanes <= to.stride; t += 2 * lanes) add_product_tile<kRows, 2>(a, m, depth, b, t, to);
  for (; t < to.stride; t += lanes) add_product_tile<kRows, 1>(a, m, depth, b, t, to);
}

// to[m] += sum_k a(m, k) b[k] for m < rows and k < depth; rows of b and `to` are equally wide.
template <typename T>
void add_products(const Coefficients<T>& a, int64_t rows, int64_t depth, const PaddedRows<T>& b,
                  const PaddedRows<T>& to) {
  int64_t m = 0;
  for (; m + 4 <= rows; m += 4) add_product_rows<4>(a, m, depth, b, to);
  for (; m < rows; ++m) add_product_rows<1>(a, m, depth, b, to);
}

// Returns e^x, and NaN for NaN.
template <class D, class V>
HWY_INLINE V exp_or_nan(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
}

GEOSFT_SIMD_END();
#endif
