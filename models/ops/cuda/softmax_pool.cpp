// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/softmax_pool_host.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& u,
                                           const std::optional<at::Tensor>& ptr) {
  return pool_forward(x, u, ptr, KernelLauncher(x.device(), "softmax_pool"));
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& log_sum,
                                            const at::Tensor& x, const at::Tensor& u,
                                            const std::optional<at::Tensor>& ptr) {
  return pool_backward(grad, out, log_sum, x, u, ptr, KernelLauncher(x.device(), "softmax_pool backward"));
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_softmax_pool_forward", forward);
  m.impl("_softmax_pool_backward", backward);
}

}  // namespace geosft::cuda
