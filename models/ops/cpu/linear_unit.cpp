// SPDX-License-Identifier: Apache-2.0
// Linear attention of one item and head: with f and g the features of keys and queries,
//   S_t = sum_j f_jt v_j, z_t = sum_j f_jt,   out_i = sum_t g_it S_t / (sum_t g_it z_t + eps)
#include "models/ops/cpu/primal_units.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/linear_unit.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

// phi(x) = elu(x) + 1 and its slope, of padded rows. Not by elu itself: for x far below 0 the digits would be lost.
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

// A row of q or k, its features and their slopes.
template <typename T>
struct FeatureRow {
  explicit FeatureRow(int64_t c) : rows(3, c) {}
  void load(const T* x) {
    rows.load(0, x);
    features(rows[0], rows.stride, rows[1], rows[2]);
  }
  const T* feature() const { return rows[1]; }
  const T* slope() const { return rows[2]; }
  PaddedRows<T> rows;
};

// S [c] rows of v's width, and z in their further column.
template <typename T>
struct FeatureSums {
  FeatureSums(const PrimalNumbers& n, const PrimalUnit<T>& unit) : sums(n.c, n.cv + 1), row(n.c), v(1, n.cv + 1) {
    sums.clear();
    for (int64_t j = 0; j < unit.keys; ++j) {
      row.load(unit.k[j]);
      load_value(unit.v[j], n.cv, T(1));
      add_to_rows(list(), row.feature(), v[0]);
    }
  }
  RowList<T> list() const { return {sums, sums.rows}; }
  void load_value(const T* values, int64_t cv, T last) {
    v.clear();
    std::copy_n(values, cv, v[0]);
    v[0][cv] = last;
  }

  PaddedRows<T> sums;
  FeatureRow<T> row;
  PaddedRows<T> v;
};

template <typename T>
void forward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to) {
  FeatureSums<T> sums(n, unit);
  const PaddedRows<T> mixed(1, n.cv + 1);
  for (int64_t i = 0; i < unit.queries; ++i) {
    sums.row.load(unit.q[i]);
    mixed.clear();
    add_weighted_rows(sums.list(), sums.row.feature(), mixed[0]);
    const T total = unit.keys > 0 ? mixed[0][n.cv] + static_cast<T>(n.eps) : T(0);
    *to.normalizer[i] = total;
    for (int64_t t = 0; t < n.cv; ++t) to.out[i][t] = total == 0 ? T(0) : mixed[0][t] / total;
  }
}

// With A_i = [grad_i, -grad_i . out_i] / total_i, one column more than v: d g_it = A_i . [S_t, z_t], and with their
// sums B_t = sum_i g_it A_i: d f_jt = B_t . [v_j, 1], d v_j = sum_t f_jt B_t. grad_i . out_i is sum_t g_it (grad_i .
// S_t) / total_i.
template <typename T>
void backward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUpstream<T>& up) {
  FeatureSums<T> sums(n, unit);
  const PaddedRows<T> above(n.c, n.cv + 1), mixed(1, n.cv + 1), slopes(1, n.c);
  above.clear();
  for (int64_t i = 0; i < unit.queries; ++i) {
    const T total = *up.normalizer[i], by = total == 0 ? T(0) : T(1) / total;
    sums.load_value(up.grad[i], n.cv, T(0));
    for (int64_t t = 0; t < n.cv; ++t) sums.v[0][t] *= by;
    sums.row.load(unit.q[i]);
    row_products(sums.list(), sums.v[0], slopes[0]);
    T last = 0;
    for (int64_t t = 0; t < n.c; ++t) last -= by * sums.row.feature()[t] * slopes[0][t];
    sums.v[0][n.cv] = last;
    for (int64_t t = 0; t < n.c; ++t) {
      up.q_grad[i][t] = (slopes[0][t] + last * sums.sums[t][n.cv]) * sums.row.slope()[t];
    }
    add_to_rows(RowList<T>{above, n.c}, sums.row.feature(), sums.v[0]);
  }
  for (int64_t j = 0; j < unit.keys; ++j) {
    sums.row.load(unit.k[j]);
    sums.load_value(unit.v[j], n.cv, T(1));
    row_products(RowList<T>{above, n.c}, sums.v[0], slopes[0]);
    for (int64_t t = 0; t < n.c; ++t) up.k_grad[j][t] = slopes[0][t] * sums.row.slope()[t];
    mixed.clear();
    add_weighted_rows(RowList<T>{above, n.c}, sums.row.feature(), mixed[0]);
    std::copy_n(mixed[0], n.cv, up.v_grad[j]);
  }
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

void linear_unit_forward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalResult<float>& to) {
  HWY_DYNAMIC_DISPATCH(forward_float)(n, unit, to);
}
void linear_unit_forward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalResult<double>& to) {
  HWY_DYNAMIC_DISPATCH(forward_double)(n, unit, to);
}
void linear_unit_backward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalUpstream<float>& up) {
  HWY_DYNAMIC_DISPATCH(backward_float)(n, unit, up);
}
void linear_unit_backward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalUpstream<double>& up) {
  HWY_DYNAMIC_DISPATCH(backward_double)(n, unit, up);
}

}  // namespace geosft
#endif
