// SPDX-License-Identifier: Apache-2.0
// Computes linear attention for one item and head: with f and g the features of keys and queries,
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
void forward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to) {
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
PaddedRows<T> query_gradients(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUpstream<T>& up,
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
void backward_any(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUpstream<T>& up) {
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
