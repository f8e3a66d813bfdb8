// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "models/ops/cuda/softmax_pool_host.h"
#include "models/ops/cuda/softmax_pool_launch.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& u,
                                           const std::optional<at::Tensor>& ptr) {
  const Stream stream(x.device());
  return pool_forward(x, u, ptr, [&](const auto& in) { check_launch(launch_pool(in, stream.get()), "softmax_pool"); });
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& log_sum,
                                            const at::Tensor& x, const at::Tensor& u,
                                            const std::optional<at::Tensor>& ptr) {
  const Stream stream(x.device());
  return pool_backward(grad, out, log_sum, x, u, ptr,
                       [&](const auto& in) { check_launch(launch_pool(in, stream.get()), "softmax_pool backward"); });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_softmax_pool_forward", forward);
  m.impl("_softmax_pool_backward", backward);
}

}  // namespace geosft::cuda
