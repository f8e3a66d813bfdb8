// SPDX-License-Identifier: Apache-2.0
// Computes gated_edge_sum on the CPU, one row at a time. The backward pass takes the rows first, for the gradients of
// gates and queries, then the columns, for those of keys and values.
#include "models/ops/gated_edge_sum.h"

#include <ATen/Dispatch.h>

#include "models/ops/cpu/row_kernels.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/gated_edge_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/edge_pass-inl.h"
#include "models/ops/cpu/softplus-inl.h"

#ifndef GEOSFT_GATED_EDGE_SUM_ROWS
#define GEOSFT_GATED_EDGE_SUM_ROWS
namespace geosft {
namespace {

template <typename T>
struct GatedRows {
  const T *query, *key, *value, *edge;
  const int64_t *rowptr, *col;
  int64_t width;
  T *out, *gate, *total;
};

// share [R, width] is out_grad / total, which the pass over the rows writes and the one over the columns reads.
template <typename T>
struct GatedGradients {
  const T *out_grad, *gate_grad, *out, *gate, *total, *value;
  const int64_t *rowptr, *col, *row, *colptr, *order;
  int64_t width;
  T *share, *query_grad, *key_grad, *value_grad, *edge_grad;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

// Computes 1 / (1 + e^-x), NaN for NaN.
template <class D, class V, int U>
HWY_INLINE void sigmoids(D d, const V (&x)[U], V (&result)[U]) {
  V negative[U], small[U];
  for (int u = 0; u < U; ++u) negative[u] = hn::Or(x[u], hn::SignBit(d));
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    exp_below_zero(d, negative, small);
  } else {
    for (int u = 0; u < U; ++u) small[u] = hn::Exp(d, negative[u]);
  }
  for (int u = 0; u < U; ++u) result[u] = hn::IfThenElse(hn::Eq(x[u], x[u]), sigmoid(d, x[u], small[u]), x[u]);
}

template <int U, class D>
struct GatedRow {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V query[U], sum[U], total[U];

  HWY_INLINE GatedRow(D d, const GatedRows<T>& in, int64_t i, int64_t t) {
    load<U>(d, in.query + i * in.width + t, query);
    for (int u = 0; u < U; ++u) {
      sum[u] = hn::Zero(d);
      total[u] = hn::Set(d, static_cast<T>(kGateEps));
    }
  }
  HWY_INLINE void add(D d, const GatedRows<T>& in, int64_t e, int64_t t) {
    const int64_t from = in.col[e] * in.width + t;
    V gate[U], key[U], value[U], share[U];
    load<U>(d, in.edge + e * in.width + t, gate);
    load<U>(d, in.key + from, key);
    load<U>(d, in.value + from, value);
    for (int u = 0; u < U; ++u) gate[u] = hn::Add(gate[u], hn::Add(query[u], key[u]));
    store<U>(d, gate, in.gate + e * in.width + t);
    sigmoids(d, gate, share);
    for (int u = 0; u < U; ++u) {
      sum[u] = hn::MulAdd(share[u], value[u], sum[u]);
      total[u] = hn::Add(total[u], share[u]);
    }
  }
  HWY_INLINE void end(D d, const GatedRows<T>& in, int64_t i, int64_t t) {
    for (int u = 0; u < U; ++u) sum[u] = hn::Div(sum[u], total[u]);
    store<U>(d, sum, in.out + i * in.width + t);
    store<U>(d, total, in.total + i * in.width + t);
  }
};

// Computes, from s = sigmoid(gate) and share = out_grad / total: d gate = gate_grad + share (value - out) s (1 - s).
template <int U, class D>
struct GradientRow {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V share[U], out[U], sum[U];

  HWY_INLINE GradientRow(D d, const GatedGradients<T>& in, int64_t i, int64_t t) {
    V total[U];
    load<U>(d, in.out_grad + i * in.width + t, share);
    load<U>(d, in.out + i * in.width + t, out);
    load<U>(d, in.total + i * in.width + t, total);
    for (int u = 0; u < U; ++u) {
      share[u] = hn::Div(share[u], total[u]);
      sum[u] = hn::Zero(d);
    }
    store<U>(d, share, in.share + i * in.width + t);
  }
  HWY_INLINE void add(D d, const GatedGradients<T>& in, int64_t e, int64_t t) {
    V gate[U], s[U], value[U], slope[U];
    load<U>(d, in.gate + e * in.width + t, gate);
    load<U>(d, in.value + in.col[e] * in.width + t, value);
    load<U>(d, in.gate_grad + e * in.width + t, slope);
    sigmoids(d, gate, s);
    for (int u = 0; u < U; ++u) {
      const V steep = hn::Mul(s[u], hn::Sub(hn::Set(d, T(1)), s[u]));
      slope[u] = hn::MulAdd(hn::Mul(share[u], hn::Sub(value[u], out[u])), steep, slope[u]);
      sum[u] = hn::Add(sum[u], slope[u]);
    }
    store<U>(d, slope, in.edge_grad + e * in.width + t);
  }
  HWY_INLINE void end(D d, const GatedGradients<T>& in, int64_t i, int64_t t) const {
    store<U>(d, sum, in.query_grad + i * in.width + t);
  }
};

template <int U, class D>
struct GradientColumn {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V key[U], value[U];

  HWY_INLINE GradientColumn(D d, const GatedGradients<T>& /*in*/, int64_t /*j*/, int64_t /*t*/) {
    for (int u = 0; u < U; ++u) key[u] = value[u] = hn::Zero(d);
  }
  HWY_INLINE void add(D d, const GatedGradients<T>& in, int64_t n, int64_t t) {
    const int64_t e = in.order[n];
    V gate[U], s[U], slope[U], share[U];
    load<U>(d, in.gate + e * in.width + t, gate);
    load<U>(d, in.edge_grad + e * in.width + t, slope);
    load<U>(d, in.share + in.row[e] * in.width + t, share);
    sigmoids(d, gate, s);
    for (int u = 0; u < U; ++u) {
      key[u] = hn::Add(key[u], slope[u]);
      value[u] = hn::MulAdd(share[u], s[u], value[u]);
    }
  }
  HWY_INLINE void end(D d, const GatedGradients<T>& in, int64_t j, int64_t t) const {
    store<U>(d, key, in.key_grad + j * in.width + t);
    store<U>(d, value, in.value_grad + j * in.width + t);
  }
};

GEOSFT_EDGE_KERNEL(forward, GatedRow, GatedRows, rowptr)
GEOSFT_EDGE_KERNEL(rows, GradientRow, GatedGradients, rowptr)
GEOSFT_EDGE_KERNEL(columns, GradientColumn, GatedGradients, colptr)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(forward)
GEOSFT_SIMD_EXPORT(rows)
GEOSFT_SIMD_EXPORT(columns)

std::tuple<at::Tensor, at::Tensor, at::Tensor> forward(const at::Tensor& query_in, const at::Tensor& key_in,
                                                       const at::Tensor& value_in, const at::Tensor& edge_in,
                                                       const at::Tensor& rowptr_in, const at::Tensor& col_in) {
  check_gated_sum(query_in, key_in, value_in, edge_in, rowptr_in, col_in);
  const at::Tensor rowptr = rowptr_in.contiguous(), col = col_in.contiguous();
  check_edge_values(rowptr, col, key_in.size(0), "rowptr", "col");
  const at::Tensor query = opmath_contiguous(query_in), key = opmath_contiguous(key_in),
                   value = opmath_contiguous(value_in), edge = opmath_contiguous(edge_in);
  const at::Tensor out = at::empty_like(query), gate = at::empty_like(edge), total = at::empty_like(query);
  const int64_t rows = query.size(0), width = query.size(1);
  AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "gated_edge_sum", [&] {
    const GatedRows<scalar_t> in{query.const_data_ptr<scalar_t>(),
                                 key.const_data_ptr<scalar_t>(),
                                 value.const_data_ptr<scalar_t>(),
                                 edge.const_data_ptr<scalar_t>(),
                                 rowptr.const_data_ptr<int64_t>(),
                                 col.const_data_ptr<int64_t>(),
                                 width,
                                 out.mutable_data_ptr<scalar_t>(),
                                 gate.mutable_data_ptr<scalar_t>(),
                                 total.mutable_data_ptr<scalar_t>()};
    parallel_over_edges(rows, col.size(0), width, [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, forward)(in, begin, end);
    });
  });
  return {out, gate, total};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> backward(
    const at::Tensor& out_grad_in, const at::Tensor& gate_grad_in, const at::Tensor& out_in, const at::Tensor& gate_in,
    const at::Tensor& total_in, const at::Tensor& value_in, const at::Tensor& rowptr, const at::Tensor& col,
    const at::Tensor& row, const at::Tensor& colptr, const at::Tensor& order) {
  const EdgeIndex index{rowptr.contiguous(), col.contiguous(), row.contiguous(), colptr.contiguous(),
                        order.contiguous()};
  check_gated_sum_backward(out_grad_in, gate_grad_in, out_in, gate_in, total_in, value_in, index);
  check_edge_values(index.rowptr, index.col, index.columns(), "rowptr", "col");
  check_edge_values(index.colptr, index.order, index.edges(), "colptr", "order");
  check_edge_rows(index.row, index.rows());
  const at::Tensor out_grad = opmath_contiguous(out_grad_in), gate_grad = opmath_contiguous(gate_grad_in),
                   out = opmath_contiguous(out_in), gate = opmath_contiguous(gate_in),
                   total = opmath_contiguous(total_in), value = opmath_contiguous(value_in);
  const at::Tensor share = at::empty_like(out), query_grad = at::empty_like(out), key_grad = at::empty_like(value),
                   value_grad = at::empty_like(value), edge_grad = at::empty_like(gate);
  const int64_t width = out.size(1);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "gated_edge_sum", [&] {
    const GatedGradients<scalar_t> in{out_grad.const_data_ptr<scalar_t>(),    gate_grad.const_data_ptr<scalar_t>(),
                                      out.const_data_ptr<scalar_t>(),         gate.const_data_ptr<scalar_t>(),
                                      total.const_data_ptr<scalar_t>(),       value.const_data_ptr<scalar_t>(),
                                      index.rowptr.const_data_ptr<int64_t>(), index.col.const_data_ptr<int64_t>(),
                                      index.row.const_data_ptr<int64_t>(),    index.colptr.const_data_ptr<int64_t>(),
                                      index.order.const_data_ptr<int64_t>(),  width,
                                      share.mutable_data_ptr<scalar_t>(),     query_grad.mutable_data_ptr<scalar_t>(),
                                      key_grad.mutable_data_ptr<scalar_t>(),  value_grad.mutable_data_ptr<scalar_t>(),
                                      edge_grad.mutable_data_ptr<scalar_t>()};
    parallel_over_edges(index.rows(), index.edges(), width, [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, rows)(in, begin, end);
    });
    parallel_over_edges(index.columns(), index.edges(), width, [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, columns)(in, begin, end);
    });
  });
  return {query_grad, key_grad, value_grad, edge_grad};
}

}  // namespace

GEOSFT_ROW_KERNELS(gated_edge_sum)

}  // namespace geosft
#endif
