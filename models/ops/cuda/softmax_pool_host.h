// SPDX-License-Identifier: Apache-2.0
// Allocates the results of softmax_pool and calls run(PoolForward<T> or PoolBackward<T>), which launches the kernels on
// a GPU or in the emulation. The host reads nothing from the device, so the values of ptr are not checked here.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>
#include <tuple>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/softmax_pool_kernel.cuh"
#include "models/ops/opmath.h"
#include "models/ops/softmax_pool.h"

namespace geosft::cuda {

inline PackedRows pooled_rows(const at::Tensor& ptr, const at::Tensor& x) {
  if (!ptr.defined()) return {nullptr, 1, x.size(0)};
  return {ptr.const_data_ptr<int64_t>(), ptr.size(0) - 1, x.size(0)};
}

template <class Run>
std::tuple<at::Tensor, at::Tensor> pool_forward(const at::Tensor& x_in, const at::Tensor& u_in,
                                                const std::optional<at::Tensor>& ptr_in, const Run& run) {
  check_softmax_pool(x_in, u_in, ptr_in);
  const at::Tensor x = x_in.contiguous(), u = u_in.contiguous(), ptr = ptr_on_device(ptr_in, x_in.device(), "ptr");
  const PackedRows packed = pooled_rows(ptr, x);
  const int64_t width = x.size(1), blocks = tile_blocks(packed.rows, packed.items, kPoolRows);
  const auto computed = x.options().dtype(at::toOpMathType(x.scalar_type()));
  const at::Tensor sum = at::empty({blocks, width}, computed), totals = at::empty({2, blocks}, computed);
  const at::Tensor out = at::empty({packed.items, width}, computed), log_sum = at::empty({packed.items}, computed);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "softmax_pool", [&] {
    scalar_t* total = totals.mutable_data_ptr<scalar_t>();
    run(PoolForward<scalar_t>{stored<scalar_t>(x), stored<scalar_t>(u), width, packed, sum.mutable_data_ptr<scalar_t>(),
                              total, total + blocks, out.mutable_data_ptr<scalar_t>(),
                              log_sum.mutable_data_ptr<scalar_t>()});
  });
  return {out, log_sum};
}

template <class Run>
std::tuple<at::Tensor, at::Tensor> pool_backward(const at::Tensor& grad_in, const at::Tensor& out_in,
                                                 const at::Tensor& log_sum_in, const at::Tensor& x_in,
                                                 const at::Tensor& u_in, const std::optional<at::Tensor>& ptr_in,
                                                 const Run& run) {
  check_softmax_pool(x_in, u_in, ptr_in);
  const at::Tensor x = x_in.contiguous(), u = u_in.contiguous(), ptr = ptr_on_device(ptr_in, x_in.device(), "ptr");
  const at::Tensor grad = opmath_contiguous(grad_in), log_sum = opmath_contiguous(log_sum_in),
                   out = opmath_contiguous(out_in);
  const PackedRows packed = pooled_rows(ptr, x);
  const int64_t width = x.size(1), blocks = tile_blocks(packed.rows, packed.items, kPoolRows);
  TORCH_CHECK(grad.sizes() == out.sizes() && out.dim() == 2 && out.size(1) == width && out.size(0) == packed.items &&
                  log_sum.numel() == packed.items,
              "grad, out and log_sum must have the shapes of the result, got ", grad.sizes(), ", ", out.sizes(),
              " and ", log_sum.sizes());
  const at::Tensor grad_out = (grad * out).sum(1);
  const at::Tensor x_grad = at::empty_like(x), u_grads = at::zeros({blocks, width}, out.options());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "softmax_pool", [&] {
    run(PoolBackward<scalar_t>{stored<scalar_t>(x), stored<scalar_t>(u), width, packed, grad.const_data_ptr<scalar_t>(),
                               grad_out.const_data_ptr<scalar_t>(), log_sum.const_data_ptr<scalar_t>(),
                               storable<scalar_t>(x_grad), u_grads.mutable_data_ptr<scalar_t>()});
  });
  return {x_grad, u_grads.sum(0).to(x_in.scalar_type())};
}

// Registers the operators for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_softmax_pool(torch::Library& m) {
  m.impl("_softmax_pool_forward", [](const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
    return pool_forward(x, u, ptr, Launcher(x.device(), "softmax_pool"));
  });
  m.impl("_softmax_pool_backward", [](const at::Tensor& grad, const at::Tensor& out, const at::Tensor& log_sum,
                                      const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
    return pool_backward(grad, out, log_sum, x, u, ptr, Launcher(x.device(), "softmax_pool backward"));
  });
}

}  // namespace geosft::cuda
