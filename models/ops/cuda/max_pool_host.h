// SPDX-License-Identifier: Apache-2.0
// Computes max_pool and its gradient on tensors, for the GPU and its emulation: run(MaxPoolCall<T> or
// MaxPoolGradientCall<T>) launches the kernel. The host reads nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>
#include <tuple>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/max_pool_kernel.cuh"
#include "models/ops/max_pool.h"
#include "models/ops/opmath.h"

namespace geosft::cuda {

template <class Run>
std::tuple<at::Tensor, at::Tensor> max_pool_forward(const at::Tensor& x_in, const std::optional<at::Tensor>& ptr_in,
                                                    const Run& run) {
  check_max_pool(x_in, ptr_in);
  const at::Tensor x = opmath_contiguous(x_in), ptr = ptr_on_device(ptr_in, x.device(), "ptr");
  const PackedRows packed{pointer<int64_t>(ptr), ptr.defined() ? ptr.size(0) - 1 : 1, x.size(0)};
  const at::Tensor out = at::empty({packed.items, x.size(1)}, x.options()),
                   row = at::empty({packed.items, x.size(1)}, x.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "max_pool", [&] {
    run(MaxPoolCall<scalar_t>{x.const_data_ptr<scalar_t>(), packed, x.size(1), out.mutable_data_ptr<scalar_t>(),
                              row.mutable_data_ptr<int64_t>()});
  });
  return {out.to(x_in.scalar_type()), row};
}

template <class Run>
at::Tensor max_pool_backward(const at::Tensor& grad_in, const at::Tensor& row_in, int64_t rows, const Run& run) {
  check_max_pool_backward(grad_in, row_in, rows);
  const at::Tensor grad = opmath_contiguous(grad_in), row = row_in.contiguous();
  const at::Tensor x_grad = at::zeros({rows, grad.size(1)}, grad.options());
  AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "max_pool", [&] {
    run(MaxPoolGradientCall<scalar_t>{grad.const_data_ptr<scalar_t>(), row.const_data_ptr<int64_t>(), grad.size(0),
                                      rows, grad.size(1), x_grad.mutable_data_ptr<scalar_t>()});
  });
  return x_grad.to(grad_in.scalar_type());
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_max_pool(torch::Library& m) {
  m.impl("_max_pool_forward", [](const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
    return max_pool_forward(x, ptr, Launcher(x.device(), "max_pool"));
  });
  m.impl("_max_pool_backward", [](const at::Tensor& grad, const at::Tensor& row, int64_t rows) {
    return max_pool_backward(grad, row, rows, Launcher(grad.device(), "max_pool backward"));
  });
}

}  // namespace geosft::cuda
