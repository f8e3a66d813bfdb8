// SPDX-License-Identifier: Apache-2.0
// Computes edge_sum on the CPU: one row at a time, whose channels are summed in registers. The backward pass takes one
// column at a time, which has all edges that its gradient needs.
#include "models/ops/edge_sum.h"

#include <ATen/Dispatch.h>

#include "models/ops/cpu/edge_rows.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/edge_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/channels-inl.h"

#ifndef GEOSFT_EDGE_SUM_ROWS
#define GEOSFT_EDGE_SUM_ROWS
namespace geosft {
namespace {

// x [C, width], edge [E, width] or null, scale [E] or null; ptr and to: rowptr and col, or colptr and order.
template <typename T>
struct EdgeSumRows {
  const T* x;
  const T* edge;
  const T* scale;
  const int64_t* ptr;
  const int64_t* to;
  int64_t width;
  bool relu;

  T scale_of(int64_t e) const { return scale ? scale[e] : T(1); }
};

// The gradient of the result [R, width], the row of each edge, and where the gradients go; edge_grad may be null.
template <typename T>
struct EdgeSumGradients {
  const T* grad;
  const int64_t* row;
  T* x_grad;
  T* edge_grad;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

// The sum over the edges of row i.
template <typename T>
struct RowOfSum {
  const EdgeSumRows<T>& in;
  int64_t i;
  T* out;

  template <int U, class D>
  HWY_INLINE void run(D d, int64_t t) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<D> sum[U];
    for (int u = 0; u < U; ++u) sum[u] = hn::Zero(d);
    for (int64_t e = in.ptr[i]; e < in.ptr[i + 1]; ++e) {
      const T* from = in.x + in.to[e] * in.width + t;
      const hn::Vec<D> scale = hn::Set(d, in.scale_of(e));
      for (int u = 0; u < U; ++u) {
        hn::Vec<D> message = hn::LoadU(d, from + u * lanes);
        if (in.edge) message = hn::Add(message, hn::LoadU(d, in.edge + e * in.width + t + u * lanes));
        if (in.relu) message = positive_part(d, message);
        sum[u] = hn::MulAdd(scale, message, sum[u]);
      }
    }
    for (int u = 0; u < U; ++u) hn::StoreU(sum[u], d, out + i * in.width + t + u * lanes);
  }
};

// The gradients of column j and of its edges.
template <typename T>
struct ColumnOfSum {
  const EdgeSumRows<T>& in;
  const EdgeSumGradients<T>& to;
  int64_t j;

  template <int U, class D>
  HWY_INLINE void run(D d, int64_t t) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<D> x[U], sum[U];
    for (int u = 0; u < U; ++u) {
      x[u] = hn::LoadU(d, in.x + j * in.width + t + u * lanes);
      sum[u] = hn::Zero(d);
    }
    for (int64_t n = in.ptr[j]; n < in.ptr[j + 1]; ++n) {
      const int64_t e = in.to[n];
      const T* grad = to.grad + to.row[e] * in.width + t;
      const hn::Vec<D> scale = hn::Set(d, in.scale_of(e));
      for (int u = 0; u < U; ++u) {
        hn::Vec<D> slope = hn::Mul(scale, hn::LoadU(d, grad + u * lanes));
        if (in.relu) {
          hn::Vec<D> message = x[u];
          if (in.edge) message = hn::Add(message, hn::LoadU(d, in.edge + e * in.width + t + u * lanes));
          slope = hn::IfThenElse(hn::Gt(message, hn::Zero(d)), slope, hn::Zero(d));
        }
        if (to.edge_grad) hn::StoreU(slope, d, to.edge_grad + e * in.width + t + u * lanes);
        sum[u] = hn::Add(sum[u], slope);
      }
    }
    for (int u = 0; u < U; ++u) hn::StoreU(sum[u], d, to.x_grad + j * in.width + t + u * lanes);
  }
};

template <typename T>
void forward_any(const EdgeSumRows<T>& in, int64_t begin, int64_t end, T* out) {
  for (int64_t i = begin; i < end; ++i) for_channels<T>(in.width, RowOfSum<T>{in, i, out});
}
template <typename T>
void backward_any(const EdgeSumRows<T>& in, const EdgeSumGradients<T>& to, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; ++j) for_channels<T>(in.width, ColumnOfSum<T>{in, to, j});
}

void forward_float(const EdgeSumRows<float>& in, int64_t begin, int64_t end, float* out) {
  forward_any(in, begin, end, out);
}
void forward_double(const EdgeSumRows<double>& in, int64_t begin, int64_t end, double* out) {
  forward_any(in, begin, end, out);
}
void backward_float(const EdgeSumRows<float>& in, const EdgeSumGradients<float>& to, int64_t begin, int64_t end) {
  backward_any(in, to, begin, end);
}
void backward_double(const EdgeSumRows<double>& in, const EdgeSumGradients<double>& to, int64_t begin, int64_t end) {
  backward_any(in, to, begin, end);
}

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

// The floating arguments, contiguous and in the type that kernels compute in.
struct EdgeNumbers {
  at::Tensor x, edge, scale;

  EdgeNumbers(const at::Tensor& x_in, const std::optional<at::Tensor>& edge_in,
              const std::optional<at::Tensor>& scale_in)
      : x(opmath_contiguous(x_in)),
        edge(opmath_contiguous(edge_in.value_or(at::Tensor()))),
        scale(opmath_contiguous(scale_in.value_or(at::Tensor()))) {}

  template <typename T>
  EdgeSumRows<T> rows(const at::Tensor& ptr, const at::Tensor& to, bool relu) const {
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
    const EdgeSumRows<scalar_t> arguments = in.rows<scalar_t>(rowptr, col, relu);
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    parallel_over_rows(rows, (rows + col.size(0)) * width, [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, forward)(arguments, begin, end, to);
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
    const EdgeSumRows<scalar_t> arguments = in.rows<scalar_t>(colptr, order, relu);
    const EdgeSumGradients<scalar_t> to{grad.const_data_ptr<scalar_t>(), row.const_data_ptr<int64_t>(),
                                        x_grad.mutable_data_ptr<scalar_t>(),
                                        in.edge.defined() ? edge_grad.mutable_data_ptr<scalar_t>() : nullptr};
    parallel_over_rows(in.x.size(0), (in.x.size(0) + order.size(0)) * in.x.size(1), [&](int64_t begin, int64_t end) {
      GEOSFT_SIMD_DISPATCH(scalar_t, backward)(arguments, to, begin, end);
    });
  });
  return {x_grad.to(x_in.scalar_type()), edge_grad.to(x_in.scalar_type())};
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_edge_sum_forward", forward);
  m.impl("_edge_sum_backward", backward);
}

}  // namespace geosft
#endif
