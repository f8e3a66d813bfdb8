// SPDX-License-Identifier: Apache-2.0
// Computes softmax attention for one item and head over lists of keys, for primal_attention with a mask and for items
// so small that a call of LibTorch's operator costs more than the attention itself.
#include <ATen/Dispatch.h>

#include <algorithm>
#include <limits>

#include "models/ops/cpu/primal_units.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/softmax_unit.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

// Returns the keys that query i attends to, as rows of `rows`.
template <typename T>
RowList<T> seen(const PrimalUnit<T>& unit, const PaddedRows<T>& rows, int64_t i) {
  if (unit.rowptr == nullptr) return {rows, unit.keys};
  return {rows, unit.rowptr[i + 1] - unit.rowptr[i], unit.col + unit.rowptr[i], unit.first_key};
}

template <typename T>
int64_t most_seen(const PrimalUnit<T>& unit) {
  if (unit.rowptr == nullptr) return unit.keys;
  int64_t most = 0;
  for (int64_t i = 0; i < unit.queries; ++i) most = std::max(most, unit.rowptr[i + 1] - unit.rowptr[i]);
  return most;
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
void forward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to) {
  const PaddedRows<T> k(unit.keys, n.c), v(unit.keys, n.cv), q(1, n.c), mixed(1, n.cv);
  k.load(unit.k);
  v.load(unit.v);
  const Scratch<T> weights(padded_rows<T>(most_seen(unit)));
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

// With p the weights, e_j = g . v_j and s_j = p_j (e_j - sum_n p_n e_n): d v_j = p_j g, d k_j = s_j scale q, d q =
// scale sum_j s_j k_j. The weights are recomputed as in the forward pass: computed from the logarithm of their sum they
// would lose digits for large logits.
template <typename T>
void backward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUpstream<T>& up) {
  const PaddedRows<T> k(unit.keys, n.c), v(unit.keys, n.cv), k_grad(unit.keys, n.c), v_grad(unit.keys, n.cv);
  const PaddedRows<T> q(1, n.c), q_grad(1, n.c), grad(1, n.cv);
  k.load(unit.k);
  v.load(unit.v);
  k_grad.clear();
  v_grad.clear();
  const int64_t most = padded_rows<T>(most_seen(unit));
  const Scratch<T> weights(most), slopes(most);
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

void forward_float(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalResult<float>& to) {
  forward_any(n, unit, to);
}
void forward_double(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalResult<double>& to) {
  forward_any(n, unit, to);
}
void backward_float(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalUpstream<float>& up) {
  backward_any(n, unit, up);
}
void backward_double(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalUpstream<double>& up) {
  backward_any(n, unit, up);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {
HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);
}  // namespace

void softmax_unit_forward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalResult<float>& to) {
  HWY_DYNAMIC_DISPATCH(forward_float)(n, unit, to);
}
void softmax_unit_forward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalResult<double>& to) {
  HWY_DYNAMIC_DISPATCH(forward_double)(n, unit, to);
}
void softmax_unit_backward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalUpstream<float>& up) {
  HWY_DYNAMIC_DISPATCH(backward_float)(n, unit, up);
}
void softmax_unit_backward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalUpstream<double>& up) {
  HWY_DYNAMIC_DISPATCH(backward_double)(n, unit, up);
}

}  // namespace geosft
#endif
