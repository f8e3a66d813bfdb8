// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/primal_host.h"
#include "models/ops/primal_composition.h"

namespace geosft::cuda {
namespace {

using Optional = std::optional<at::Tensor>;

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const Optional& beta, at::OptionalIntArrayRef pool, std::string_view kernel,
                                           double eps, const Optional& q_ptr, const Optional& k_ptr,
                                           const Optional& mask_rowptr, const Optional& mask_col,
                                           std::optional<double> scale) {
  const PrimalArguments a{q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale};
  a.check();
  check_visible_offsets(a);
  const KernelLauncher launcher(q.device(), "primal_attention");
  if (!has_primal_kernels(a)) return composed_primal_forward(a);
  return primal_forward(a, launcher);
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Optional& beta,
                                 at::OptionalIntArrayRef pool, std::string_view kernel, double eps,
                                 const Optional& q_ptr, const Optional& k_ptr, const Optional& mask_rowptr,
                                 const Optional& mask_col, std::optional<double> scale) {
  const PrimalArguments a{q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale};
  a.check();
  check_visible_offsets(a);
  const KernelLauncher launcher(q.device(), "primal_attention backward");
  if (!has_primal_kernels(a)) return composed_primal_gradients(grad, a);
  return primal_backward(grad, out, normalizer, a, launcher);
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_primal_attention_forward", forward);
  m.impl("_primal_attention_backward", backward);
}

}  // namespace geosft::cuda
