// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"
#include "models/ops/cuda/edge_sum_host.h"
#include "models/ops/cuda/kernel_launcher.h"

namespace geosft::cuda {
namespace {

at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& edge, const std::optional<at::Tensor>& scale,
                   const at::Tensor& rowptr, const at::Tensor& col, bool relu) {
  return edge_sum_forward(x, edge, scale, rowptr, col, relu, KernelLauncher(x.device(), "edge_sum"));
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& x,
                                            const std::optional<at::Tensor>& edge,
                                            const std::optional<at::Tensor>& scale, const at::Tensor& row,
                                            const at::Tensor& colptr, const at::Tensor& order, bool relu) {
  return edge_sum_backward(grad, x, edge, scale, row, colptr, order, relu,
                           KernelLauncher(x.device(), "edge_sum backward"));
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_edge_sum_forward", forward);
  m.impl("_edge_sum_backward", backward);
}

}  // namespace geosft::cuda
