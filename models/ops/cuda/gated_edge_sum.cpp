// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"
#include "models/ops/cuda/gated_edge_sum_host.h"
#include "models/ops/cuda/kernel_launcher.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> forward(const at::Tensor& query, const at::Tensor& key,
                                                       const at::Tensor& value, const at::Tensor& edge,
                                                       const at::Tensor& rowptr, const at::Tensor& col) {
  return gated_sum_forward(query, key, value, edge, rowptr, col, KernelLauncher(query.device(), "gated_edge_sum"));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& out_grad,
                                                                    const at::Tensor& gate_grad, const at::Tensor& out,
                                                                    const at::Tensor& gate, const at::Tensor& total,
                                                                    const at::Tensor& value, const at::Tensor& rowptr,
                                                                    const at::Tensor& col, const at::Tensor& row,
                                                                    const at::Tensor& colptr, const at::Tensor& order) {
  return gated_sum_backward(out_grad, gate_grad, out, gate, total, value, {rowptr, col, row, colptr, order},
                            KernelLauncher(out.device(), "gated_edge_sum backward"));
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_gated_edge_sum_forward", forward);
  m.impl("_gated_edge_sum_backward", backward);
}

}  // namespace geosft::cuda
