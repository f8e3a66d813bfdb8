// SPDX-License-Identifier: Apache-2.0
// Computes linear and softmax attention for one item and head. Linear: with f and g the features of keys and queries,
//   S_t = sum_j f_jt v_j, z_t = sum_j f_jt,   out_i = sum_t g_it S_t / (sum_t g_it z_t + eps)
// Softmax is over lists of keys, for primal_attention with a mask and for items so small that a call of LibTorch's
// operator costs more than the attention itself.
#include "models/ops/cpu/primal_units.h"

#include <algorithm>
#include <limits>

#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/primal_units.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_products-inl.h"

GEOSFT_SIMD_BEGIN();

// Computes phi(x) = elu(x) + 1 and its derivative for padded rows. elu itself would lose digits for x far below 0.
template <typename T>
void features(const T* HWY_RESTRICT x, int64_t width, T* HWY_RESTRICT feature, T* HWY_RESTRICT slope) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t t = 0; t < width; t += lanes) {
    const Vector<T> at = hn::Load(d, x + t), one = hn::Set(d, T(1));
    const Vector<T> below = exp_or_nan(d, hn::Min(at, hn::Zero(d)));
    const auto positive = hn::Gt(at, hn::Zero(d));
    const Vector<T> value = hn::IfThenElse(positive, hn::Add(at, one), below);
    hn::Store(hn::IfThenElse(hn::Eq(at, at), value, at), d, feature + t);
    hn::Store(hn::IfThenElse(positive, one, below), d, slope + t);
  }
}

constexpr int64_t kBlockRows = 16;  // rows of q or k per block: each load of the sums serves all of them

// Rows of q or k, with their features and the derivatives of those.
template <typename T>
struct FeatureBlock {
  explicit FeatureBlock(int64_t c) : x(1, c), feature(kBlockRows, c), slope(kBlockRows, c) {}
  void load(const StridedRows<const T>& from, int64_t first, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      x.load(0, from[first + i]);
      features(x[0], x.stride, feature[i], slope[i]);
    }
  }
  // a(i, t) = feature t of row i, and its transpose.
  Coefficients<T> features_of_rows() const { return {feature[0], feature.stride, 1}; }
  Coefficients<T> rows_of_features() const { return {feature[0], 1, feature.stride}; }

  PaddedRows<T> x, feature, slope;
};

// A block of rows of values, with one extra number per row.
template <typename T>
struct ValueBlock {
  explicit ValueBlock(int64_t cv) : rows(kBlockRows, cv + 1) {}
  void load(int64_t i, const T* values, T scale, T last) const {
    const int64_t cv = rows.columns - 1;
    T* to = rows[i];
    for (int64_t t = 0; t < cv; ++t) to[t] = scale * values[t];
    std::fill(to + cv, to + rows.stride, T(0));
    to[cv] = last;
  }
  // a(i, t) = element t of row i.
  Coefficients<T> numbers() const { return {rows[0], rows.stride, 1}; }

  PaddedRows<T> rows;
};

// Calls each(first, count) for the blocks of `rows` rows.
template <class Each>
void for_blocks(int64_t rows, const Each& each) {
  for (int64_t first = 0; first < rows; first += kBlockRows) each(first, std::min(kBlockRows, rows - first));
}

template <typename T>
PaddedRows<T> transposed(const PaddedRows<T>& from) {
  PaddedRows<T> to(from.columns, from.rows);
  to.clear();
  for (int64_t i = 0; i < from.rows; ++i) {
    for (int64_t t = 0; t < from.columns; ++t) to[t][i] = from[i][t];
  }
  return to;
}

// Buffers common to all passes.
template <typename T>
struct LinearRows {
  explicit LinearRows(const PrimalNumbers& n)
      : block(n.c), values(n.cv), mixed(kBlockRows, n.cv + 1), slopes(kBlockRows, n.c) {}

  // Returns S, [c] rows of v's width, with z in the extra column.
  PaddedRows<T> feature_sums(const PrimalNumbers& n, const PrimalUnit<T>& unit) const {
    PaddedRows<T> sums(n.c, n.cv + 1);
    sums.clear();
    for_blocks(unit.keys, [&](int64_t first, int64_t count) {
      block.load(unit.k, first, count);
      for (int64_t i = 0; i < count; ++i) values.load(i, unit.v[first + i], T(1), T(1));
      add_products(block.rows_of_features(), n.c, count, values.rows, sums);
    });
    return sums;
  }

  FeatureBlock<T> block;
  ValueBlock<T> values;
  PaddedRows<T> mixed, slopes;
};

template <typename T>
void linear_forward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to) {
  const LinearRows<T> at(n);
  const PaddedRows<T> sums = at.feature_sums(n, unit);
  for_blocks(unit.queries, [&](int64_t first, int64_t count) {
    at.block.load(unit.q, first, count);
    at.mixed.clear();
    add_products(at.block.features_of_rows(), count, n.c, sums, at.mixed);
    for (int64_t i = 0; i < count; ++i) {
      const T* mixed = at.mixed[i];
      const T total = unit.keys > 0 ? mixed[n.cv] + static_cast<T>(n.eps) : T(0);
      *to.normalizer[first + i] = total;
      T* out = to.out[first + i];
      if (total == 0) {
        std::fill_n(out, n.cv, T(0));
      } else {  // a loop without a condition is vectorised
        for (int64_t t = 0; t < n.cv; ++t) out[t] = mixed[t] / total;
      }
    }
  });
}

// Writes the query gradients and returns B. With A_i = [grad_i, -grad_i . out_i] / total_i, one column more than v: d
// g_it = A_i . [S_t, z_t], and with B_t = sum_i g_it A_i: d f_jt = B_t . [v_j, 1], d v_j = sum_t f_jt B_t. grad_i .
// out_i is sum_t g_it (grad_i . S_t) / total_i.
template <typename T>
PaddedRows<T> query_gradients(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUnitGradients<T>& up,
                              const LinearRows<T>& at) {
  const PaddedRows<T> sums = transposed(at.feature_sums(n, unit));
  PaddedRows<T> above(n.c, n.cv + 1);
  above.clear();
  for_blocks(unit.queries, [&](int64_t first, int64_t count) {
    at.block.load(unit.q, first, count);
    const auto inverse = [&](int64_t i) {
      const T total = *up.normalizer[first + i];
      return total == 0 ? T(0) : T(1) / total;
    };
    for (int64_t i = 0; i < count; ++i) at.values.load(i, up.grad[first + i], inverse(i), T(0));
    at.slopes.clear();
    add_products(at.values.numbers(), count, n.cv, sums, at.slopes);
    for (int64_t i = 0; i < count; ++i) {
      const T *feature = at.block.feature[i], *slope = at.block.slope[i], *product = at.slopes[i];
      const T last = -inverse(i) * row_product(feature, product, at.slopes.stride);
      at.values.rows[i][n.cv] = last;
      T* to = up.q_grad[first + i];
      for (int64_t t = 0; t < n.c; ++t) to[t] = (product[t] + last * sums[n.cv][t]) * slope[t];
    }
    add_products(at.block.rows_of_features(), n.c, count, at.values.rows, above);
  });
  return above;
}

template <typename T>
void linear_backward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUnitGradients<T>& up) {
  const LinearRows<T> at(n);
  const PaddedRows<T> above = query_gradients(n, unit, up, at), turned = transposed(above);
  for_blocks(unit.keys, [&](int64_t first, int64_t count) {
    at.block.load(unit.k, first, count);
    for (int64_t i = 0; i < count; ++i) at.values.load(i, unit.v[first + i], T(1), T(1));
    at.slopes.clear();
    at.mixed.clear();
    add_products(at.values.numbers(), count, n.cv + 1, turned, at.slopes);
    add_products(at.block.features_of_rows(), count, n.c, above, at.mixed);
    for (int64_t i = 0; i < count; ++i) {
      T* to = up.k_grad[first + i];
      for (int64_t t = 0; t < n.c; ++t) to[t] = at.slopes[i][t] * at.block.slope[i][t];
      std::copy_n(at.mixed[i], n.cv, up.v_grad[first + i]);
    }
  });
}

// Returns the keys that query i attends to, as rows of `rows`.
template <typename T>
RowList<T> seen(const PrimalUnit<T>& unit, const PaddedRows<T>& rows, int64_t i) {
  if (unit.rowptr == nullptr) return {rows, unit.keys};
  return {rows, unit.rowptr[i + 1] - unit.rowptr[i], unit.col + unit.rowptr[i], unit.first_key};
}

template <typename T>
int64_t max_seen(const PrimalUnit<T>& unit) {
  if (unit.rowptr == nullptr) return unit.keys;
  int64_t maximum = 0;
  for (int64_t i = 0; i < unit.queries; ++i) maximum = std::max(maximum, unit.rowptr[i + 1] - unit.rowptr[i]);
  return maximum;
}

template <typename T>
struct SoftmaxSum {
  T largest, total;
};

// Replaces logits by weights e^(logit - largest); padding up to a whole vector is written too. NaN makes the total NaN.
template <typename T>
SoftmaxSum<T> to_weights(T* HWY_RESTRICT logits, int64_t count) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), padded = padded_rows<T>(count);
  std::fill(logits + count, logits + padded, -std::numeric_limits<T>::infinity());
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t n = 0; n < count; ++n) largest = logits[n] > largest || logits[n] != logits[n] ? logits[n] : largest;
  const Vector<T> from = hn::Set(d, largest);
  Vector<T> sum = hn::Zero(d);
  for (int64_t n = 0; n < padded; n += lanes) {
    const Vector<T> weight = exp_or_nan(d, hn::Sub(hn::Load(d, logits + n), from));
    hn::Store(weight, d, logits + n);
    sum = hn::Add(sum, weight);
  }
  return {largest, lane_sum<T>(sum)};
}

// Normalises the weights by their total, and replaces the e_j in `slopes` by s_j. The e_j are taken relative to that of
// the key with the largest weight: if it has nearly all of the weight, its s_j is then the sum of the others'
// contributions, not a rounding error.
template <typename T>
void to_slopes(T* HWY_RESTRICT weights, T* HWY_RESTRICT slopes, int64_t count, T total) {
  const T from = slopes[std::max_element(weights, weights + count) - weights];
  T mean = 0;
  for (int64_t j = 0; j < count; ++j) {
    weights[j] /= total;
    slopes[j] -= from;
    mean += weights[j] * slopes[j];
  }
  for (int64_t j = 0; j < count; ++j) slopes[j] = weights[j] * (slopes[j] - mean);
}

template <typename T>
void softmax_forward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to) {
  const PaddedRows<T> k(unit.keys, n.c), v(unit.keys, n.cv), q(1, n.c), mixed(1, n.cv);
  k.load(unit.k);
  v.load(unit.v);
  const Scratch<T> weights(padded_rows<T>(max_seen(unit)));
  for (int64_t i = 0; i < unit.queries; ++i) {
    const RowList<T> keys = seen(unit, k, i);
    mixed.clear();
    *to.normalizer[i] = 0;
    if (keys.count > 0) {
      q.load(0, unit.q[i], static_cast<T>(n.scale));
      row_products(keys, q[0], weights.get());
      const SoftmaxSum<T> sum = to_weights(weights.get(), keys.count);
      add_weighted_rows(seen(unit, v, i), weights.get(), mixed[0]);
      for (int64_t t = 0; t < n.cv; ++t) mixed[0][t] /= sum.total;
      *to.normalizer[i] = sum.largest + std::log(sum.total);
    }
    std::copy_n(mixed[0], n.cv, to.out[i]);
  }
}

// Let p be the weights, e_j = g . v_j and s_j = p_j (e_j - sum_n p_n e_n): d v_j = p_j g, d k_j = s_j scale q, d q =
// scale sum_j s_j k_j. The weights are recomputed as in the forward pass: computed from the logarithm of their sum they
// would lose digits for large logits.
template <typename T>
void softmax_backward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUnitGradients<T>& up) {
  const PaddedRows<T> k(unit.keys, n.c), v(unit.keys, n.cv), k_grad(unit.keys, n.c), v_grad(unit.keys, n.cv);
  const PaddedRows<T> q(1, n.c), q_grad(1, n.c), grad(1, n.cv);
  k.load(unit.k);
  v.load(unit.v);
  k_grad.clear();
  v_grad.clear();
  const int64_t longest = padded_rows<T>(max_seen(unit));
  const Scratch<T> weights(longest), slopes(longest);
  for (int64_t i = 0; i < unit.queries; ++i) {
    const RowList<T> keys = seen(unit, k, i);
    q_grad.clear();
    if (keys.count > 0) {
      q.load(0, unit.q[i], static_cast<T>(n.scale));
      row_products(keys, q[0], weights.get());
      const T total = to_weights(weights.get(), keys.count).total;
      grad.load(0, up.grad[i]);
      row_products(seen(unit, v, i), grad[0], slopes.get());
      to_slopes(weights.get(), slopes.get(), keys.count, total);
      add_to_rows(seen(unit, v_grad, i), weights.get(), grad[0]);
      add_to_rows(seen(unit, k_grad, i), slopes.get(), q[0]);
      add_weighted_rows(keys, slopes.get(), q_grad[0]);
    }
    for (int64_t t = 0; t < n.c; ++t) up.q_grad[i][t] = static_cast<T>(n.scale) * q_grad[0][t];
  }
  k_grad.store(up.k_grad);
  v_grad.store(up.v_grad);
}

GEOSFT_SIMD_KERNEL(linear_forward)
GEOSFT_SIMD_KERNEL(linear_backward)
GEOSFT_SIMD_KERNEL(softmax_forward)
GEOSFT_SIMD_KERNEL(softmax_backward)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {
GEOSFT_SIMD_EXPORT(linear_forward)
GEOSFT_SIMD_EXPORT(linear_backward)
GEOSFT_SIMD_EXPORT(softmax_forward)
GEOSFT_SIMD_EXPORT(softmax_backward)
}  // namespace

template <typename T>
PrimalUnitKernels<T> primal_unit_kernels(bool linear) {
  if (linear) return {GEOSFT_SIMD_DISPATCH(T, linear_forward), GEOSFT_SIMD_DISPATCH(T, linear_backward)};
  return {GEOSFT_SIMD_DISPATCH(T, softmax_forward), GEOSFT_SIMD_DISPATCH(T, softmax_backward)};
}
template PrimalUnitKernels<float> primal_unit_kernels(bool linear);
template PrimalUnitKernels<double> primal_unit_kernels(bool linear);

}  // namespace geosft
#endif
