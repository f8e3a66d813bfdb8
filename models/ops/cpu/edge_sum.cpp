// SPDX-License-Identifier: Apache-2.0
// Computes edge_sum on the CPU: one row at a time, whose channels are summed in registers. The backward pass takes one
// column at a time, which has all edges that its gradient needs.
#include "models/ops/edge_sum.h"

#include <ATen/Dispatch.h>

#include "models/ops/cpu/row_kernels.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/edge_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/edge_pass-inl.h"

#ifndef GEOSFT_EDGE_SUM_ROWS
#define GEOSFT_EDGE_SUM_ROWS
namespace geosft {
namespace {

// x [C, width], edge [E, width] or null, scale [E] or null; ptr and to: rowptr and col, or colptr and order. Forward:
// out [R, width]. Backward: grad [R, width], the row of each edge, and where the gradients go; edge_grad may be null.
template <typename T>
struct EdgeSumArrays {
  const T *x, *edge, *scale;
  const int64_t *ptr, *to;
  int64_t width;
  bool relu;
  T* out = nullptr;
  const T* grad = nullptr;
  const int64_t* row = nullptr;
  T *x_grad = nullptr, *edge_grad = nullptr;

  T scale_of(int64_t e) const { return scale ? scale[e] : T(1); }
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

// The sum over the edges of a row.
template <int U, class D>
struct RowOfSum {
  using T = hn::TFromD<D>;
  hn::Vec<D> sum[U];

  HWY_INLINE RowOfSum(D d, const EdgeSumArrays<T>& /*in*/, int64_t /*i*/, int64_t /*t*/) {
    for (int u = 0; u < U; ++u) sum[u] = hn::Zero(d);
  }
  HWY_INLINE void add(D d, const EdgeSumArrays<T>& in, int64_t e, int64_t t) {
    hn::Vec<D> message[U], of_edge[U];
    load<U>(d, in.x + in.to[e] * in.width + t, message);
    if (in.edge) load<U>(d, in.edge + e * in.width + t, of_edge);
    const hn::Vec<D> scale = hn::Set(d, in.scale_of(e));
    for (int u = 0; u < U; ++u) {
      if (in.edge) message[u] = hn::Add(message[u], of_edge[u]);
      if (in.relu) message[u] = positive_part(d, message[u]);
      sum[u] = hn::MulAdd(scale, message[u], sum[u]);
    }
  }
  HWY_INLINE void end(D d, const EdgeSumArrays<T>& in, int64_t i, int64_t t) const {
    store<U>(d, sum, in.out + i * in.width + t);
  }
};

// The gradients of a column and of its edges.
template <int U, class D>
struct ColumnOfSum {
  using T = hn::TFromD<D>;
  hn::Vec<D> x[U], sum[U];

  HWY_INLINE ColumnOfSum(D d, const EdgeSumArrays<T>& in, int64_t j, int64_t t) {
    load<U>(d, in.x + j * in.width + t, x);
    for (int u = 0; u < U; ++u) sum[u] = hn::Zero(d);
  }
  HWY_INLINE void add(D d, const EdgeSumArrays<T>& in, int64_t n, int64_t t) {
    const int64_t e = in.to[n];
    hn::Vec<D> slope[U], of_edge[U];
    load<U>(d, in.grad + in.row[e] * in.width + t, slope);
    if (in.relu && in.edge) load<U>(d, in.edge + e * in.width + t, of_edge);
    const hn::Vec<D> scale = hn::Set(d, in.scale_of(e));
    for (int u = 0; u < U; ++u) {
      slope[u] = hn::Mul(scale, slope[u]);
      if (in.relu) {
        const hn::Vec<D> message = in.edge ? hn::Add(x[u], of_edge[u]) : x[u];
        slope[u] = hn::IfThenElse(hn::Gt(message, hn::Zero(d)), slope[u], hn::Zero(d));
      }
      sum[u] = hn::Add(sum[u], slope[u]);
    }
    if (in.edge_grad) store<U>(d, slope, in.edge_grad + e * in.width + t);
  }
  HWY_INLINE void end(D d, const EdgeSumArrays<T>& in, int64_t j, int64_t t) const {
    store<U>(d, sum, in.x_grad + j * in.width + t);
  }
};

GEOSFT_EDGE_KERNEL(forward, RowOfSum, EdgeSumArrays, ptr)
GEOSFT_EDGE_KERNEL(backward, ColumnOfSum, EdgeSumArrays, ptr)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(forward)
GEOSFT_SIMD_EXPORT(backward)

// The floating arguments, contiguous and in the type that kernels compute in.
struct EdgeNumbers {
  at::Tensor x, edge, scale;

  EdgeNumbers(const at::Tensor& x_in, const std::optional<at::Tensor>& edge_in,
              const std::optional<at::Tensor>& scale_in)
      : x(opmath_contiguous(x_in)),
        edge(opmath_contiguous(edge_in.value_or(at::Tensor()))),
        scale(opmath_contiguous(scale_in.value_or(at::Tensor()))) {}

  template <typename T>
  EdgeSumArrays<T> arrays(const at::Tensor& ptr, const at::Tensor& to, bool relu) const {
    return {x.const_data_ptr<T>(),
            edge.defined() ? edge.const_data_ptr<T>() : nullptr,
            scale.defined() ? scale.const_data_ptr<T>() : nullptr,
            ptr.const_data_ptr<int64_t>(),
            to.const_data_ptr<int64_t>(),
            x.size(1),
            relu};
  }
};

at::Tensor forward(const at::Tensor& x_in, const std::optional<at::Tensor>& edge,
                   const std::optional<at::Tensor>& scale, const at::Tensor& rowptr_in, const at::Tensor& col_in,
                   bool relu) {
  check_edge_shapes(rowptr_in, col_in, "rowptr", "col");
  check_edge_sum(x_in, edge, scale, col_in.size(0));
  const at::Tensor rowptr = rowptr_in.contiguous(), col = col_in.contiguous();
  check_edge_values(rowptr, col, x_in.size(0), "rowptr", "col");
  const EdgeNumbers in(x_in, edge, scale);
  const int64_t rows = rowptr.size(0) - 1, width = in.x.size(1);
  const at::Tensor out = at::empty({rows, width}, in.x.options());
  AT_DISPATCH_FLOATING_TYPES(in.x.scalar_type(), "edge_sum", [&] {
    EdgeSumArrays<scalar_t> arrays = in.arrays<scalar_t>(rowptr, col, relu);
    arrays.out = out.mutable_data_ptr<scalar_t>();
    parallel_over_edges(rows, col.size(0), width, [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, forward)(arrays, begin, end);
    });
  });
  return out.to(x_in.scalar_type());
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad_in, const at::Tensor& x_in,
                                            const std::optional<at::Tensor>& edge,
                                            const std::optional<at::Tensor>& scale, const at::Tensor& row_in,
                                            const at::Tensor& colptr_in, const at::Tensor& order_in, bool relu) {
  check_edge_sum_backward(grad_in, x_in, edge, scale, row_in, colptr_in, order_in);
  const at::Tensor row = row_in.contiguous(), colptr = colptr_in.contiguous(), order = order_in.contiguous();
  check_edge_values(colptr, order, order.size(0), "colptr", "order");
  check_edge_rows(row, grad_in.size(0));
  const EdgeNumbers in(x_in, edge, scale);
  const at::Tensor grad = opmath_contiguous(grad_in), x_grad = at::empty_like(in.x),
                   edge_grad = in.edge.defined() ? at::zeros_like(in.edge) : at::empty({0}, in.x.options());
  AT_DISPATCH_FLOATING_TYPES(in.x.scalar_type(), "edge_sum", [&] {
    EdgeSumArrays<scalar_t> arrays = in.arrays<scalar_t>(colptr, order, relu);
    arrays.grad = grad.const_data_ptr<scalar_t>();
    arrays.row = row.const_data_ptr<int64_t>();
    arrays.x_grad = x_grad.mutable_data_ptr<scalar_t>();
    if (in.edge.defined()) arrays.edge_grad = edge_grad.mutable_data_ptr<scalar_t>();
    parallel_over_edges(in.x.size(0), order.size(0), in.x.size(1), [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, backward)(arrays, begin, end);
    });
  });
  return {x_grad.to(x_in.scalar_type()), edge_grad.to(x_in.scalar_type())};
}

}  // namespace

GEOSFT_ROW_KERNELS(edge_sum)

}  // namespace geosft
#endif
