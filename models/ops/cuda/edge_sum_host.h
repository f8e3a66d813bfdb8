// SPDX-License-Identifier: Apache-2.0
// Computes edge_sum and its gradients on tensors, for the GPU and its emulation: run(EdgeSumCall<T> or
// EdgeSumGradientCall<T>) launches the kernel. The host reads nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>
#include <tuple>

#include "geometry/operators.h"
#include "models/ops/cuda/edge_sum_kernel.cuh"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/edge_sum.h"
#include "models/ops/opmath.h"

namespace geosft::cuda {

// A column can only be clamped to one that exists.
inline void check_any_column(const at::Tensor& x, int64_t edges) {
  TORCH_CHECK(x.size(0) > 0 || edges == 0, "x must have the rows that ", edges, " edges name, but is ", x.sizes());
}

template <class Run>
at::Tensor edge_sum_forward(const at::Tensor& x_in, const std::optional<at::Tensor>& edge_in,
                            const std::optional<at::Tensor>& scale_in, const at::Tensor& rowptr_in,
                            const at::Tensor& col_in, bool relu, const Run& run) {
  check_edge_shapes(rowptr_in, col_in, "rowptr", "col");
  check_edge_sum(x_in, edge_in, scale_in, col_in.size(0));
  check_any_column(x_in, col_in.size(0));
  const at::Tensor x = opmath_contiguous(x_in), edge = opmath_contiguous(edge_in.value_or(at::Tensor())),
                   scale = opmath_contiguous(scale_in.value_or(at::Tensor())), rowptr = rowptr_in.contiguous(),
                   col = col_in.contiguous();
  const at::Tensor out = at::empty({rowptr.size(0) - 1, x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "edge_sum", [&] {
    run(EdgeSumCall<scalar_t>{pointer<scalar_t>(x), pointer<scalar_t>(edge), pointer<scalar_t>(scale),
                              rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(), out.size(0), x.size(0),
                              col.size(0), x.size(1), relu, out.mutable_data_ptr<scalar_t>()});
  });
  return out.to(x_in.scalar_type());
}

template <class Run>
std::tuple<at::Tensor, at::Tensor> edge_sum_backward(const at::Tensor& grad_in, const at::Tensor& x_in,
                                                     const std::optional<at::Tensor>& edge_in,
                                                     const std::optional<at::Tensor>& scale_in,
                                                     const at::Tensor& row_in, const at::Tensor& colptr_in,
                                                     const at::Tensor& order_in, bool relu, const Run& run) {
  check_edge_sum_backward(grad_in, x_in, edge_in, scale_in, row_in, colptr_in, order_in);
  TORCH_CHECK(grad_in.size(0) > 0 || row_in.size(0) == 0, "grad must have the rows that the edges name, but is ",
              grad_in.sizes());
  const at::Tensor x = opmath_contiguous(x_in), edge = opmath_contiguous(edge_in.value_or(at::Tensor())),
                   scale = opmath_contiguous(scale_in.value_or(at::Tensor())), grad = opmath_contiguous(grad_in),
                   row = row_in.contiguous(), colptr = colptr_in.contiguous(), order = order_in.contiguous();
  const at::Tensor x_grad = at::empty_like(x),
                   edge_grad = edge.defined() ? at::zeros_like(edge) : at::empty({0}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "edge_sum", [&] {
    const EdgeSumCall<scalar_t> in{pointer<scalar_t>(x),
                                   pointer<scalar_t>(edge),
                                   pointer<scalar_t>(scale),
                                   nullptr,
                                   nullptr,
                                   grad.size(0),
                                   x.size(0),
                                   order.size(0),
                                   x.size(1),
                                   relu,
                                   nullptr};
    run(EdgeSumGradientCall<scalar_t>{in, grad.const_data_ptr<scalar_t>(), row.const_data_ptr<int64_t>(),
                                      colptr.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>(),
                                      x_grad.mutable_data_ptr<scalar_t>(),
                                      edge.defined() ? edge_grad.mutable_data_ptr<scalar_t>() : nullptr});
  });
  return {x_grad.to(x_in.scalar_type()), edge_grad.to(x_in.scalar_type())};
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_edge_sum(torch::Library& m) {
  using Optional = std::optional<at::Tensor>;
  m.impl("_edge_sum_forward", [](const at::Tensor& x, const Optional& edge, const Optional& scale,
                                 const at::Tensor& rowptr, const at::Tensor& col, bool relu) {
    return edge_sum_forward(x, edge, scale, rowptr, col, relu, Launcher(x.device(), "edge_sum"));
  });
  m.impl("_edge_sum_backward", [](const at::Tensor& grad, const at::Tensor& x, const Optional& edge,
                                  const Optional& scale, const at::Tensor& row, const at::Tensor& colptr,
                                  const at::Tensor& order, bool relu) {
    return edge_sum_backward(grad, x, edge, scale, row, colptr, order, relu, Launcher(x.device(), "edge_sum backward"));
  });
}

}  // namespace geosft::cuda
