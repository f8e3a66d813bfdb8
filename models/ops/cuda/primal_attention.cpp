// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/primal_host.h"
#include "models/ops/primal_composition.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor> forward(const PrimalArguments& a) {
  check_visible_offsets(a);
  const KernelLauncher launcher(a.q.device(), "primal_attention");
  if (!has_primal_kernels(a)) return composed_primal_forward(a);
  return primal_forward(a, launcher);
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                 const PrimalArguments& a) {
  check_visible_offsets(a);
  const KernelLauncher launcher(a.q.device(), "primal_attention backward");
  if (!has_primal_kernels(a)) return composed_primal_gradients(grad, a);
  return primal_backward(grad, out, normalizer, a, launcher);
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_primal_attention_forward", primal_forward_kernel<forward>);
  m.impl("_primal_attention_backward", primal_backward_kernel<backward>);
}

}  // namespace geosft::cuda
