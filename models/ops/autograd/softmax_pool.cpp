// SPDX-License-Identifier: Apache-2.0
#include "models/ops/softmax_pool.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SoftmaxPool : torch::autograd::Function<SoftmaxPool> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& u,
                               const std::optional<at::Tensor>& ptr) {
    static const auto op = find_operator<SoftmaxPoolForward>("_softmax_pool_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, log_sum] = op.call(x, u, ptr);
    context->save_for_backward({out, log_sum, x, u, ptr.value_or(at::Tensor())});
    context->mark_non_differentiable({log_sum});
    context->set_materialize_grads(false);
    return {out, log_sum};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(3);
    static const auto op = find_operator<SoftmaxPoolBackward>("_softmax_pool_backward");
    const variable_list s = context->get_saved_variables();
    variable_list gradients = once_differentiable("softmax_pool", {grads[0], s[2], s[3]}, [&] {
      const std::optional<at::Tensor> ptr = s[4].defined() ? std::optional(s[4]) : std::nullopt;
      const auto [x_grad, u_grad] = op.call(grads[0], s[0], s[1], s[2], s[3], ptr);
      return variable_list{x_grad, u_grad};
    });
    gradients.emplace_back();  // none for ptr
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_pool(const at::Tensor& x, const at::Tensor& u,
                                                       const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x, u, ptr);  // apply takes only what is a tensor
  const variable_list results = SoftmaxPool::apply(x, u, ptr);
  return {results[0], results[1]};
}

}  // namespace

GEOSFT_KERNELS(Autograd, m) {
  m.impl("_softmax_pool_forward", differentiable_pool);
}

}  // namespace geosft
