// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_attention.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/polynomial_attention_checks.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

struct Polynomial : torch::autograd::Function<Polynomial> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const PolynomialArguments& a) {
    static const auto op = find_operator<PolynomialForward>("_polynomial_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, denominator] = op.call(q, k, v, a.degree, a.scale, a.causal, a.q_ptr, a.k_ptr, a.center);
    const at::Tensor none;
    context->save_for_backward({out, denominator, q, k, v, a.q_ptr.value_or(none), a.k_ptr.value_or(none)});
    context->saved_data["degree"] = a.degree;
    context->saved_data["scale"] = a.scale;
    context->saved_data["causal"] = a.causal;
    context->saved_data["center"] = a.center;
    context->mark_non_differentiable({denominator});
    context->set_materialize_grads(false);
    return {out, denominator};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    static const auto op = find_operator<PolynomialBackward>("_polynomial_attention_backward");
    const variable_list s = context->get_saved_variables();
    auto& numbers = context->saved_data;
    variable_list gradients = once_differentiable("polynomial_attention", {grads[0], s[2], s[3], s[4]}, [&] {
      const auto [q_grad, k_grad, v_grad] =
          op.call(grads[0], s[0], s[1], s[2], s[3], s[4], numbers["degree"].toInt(), numbers["scale"].toDouble(),
                  numbers["causal"].toBool(), if_defined(s[5]), if_defined(s[6]), numbers["center"].toBool());
      return variable_list{q_grad, k_grad, v_grad};
    });
    gradients.emplace_back();  // none for the other arguments
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_polynomial(const at::Tensor& q, const at::Tensor& k,
                                                             const at::Tensor& v, int64_t degree, double scale,
                                                             bool causal, const std::optional<at::Tensor>& q_ptr,
                                                             const std::optional<at::Tensor>& k_ptr, bool center) {
  const PolynomialArguments arguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center};
  arguments.check();  // apply takes only what is a tensor
  const variable_list results = Polynomial::apply(q, k, v, arguments);
  return {results[0], results[1]};
}

}  // namespace

GEOSFT_KERNELS(Autograd, m) {
  m.impl("_polynomial_attention_forward", differentiable_polynomial);
}

}  // namespace geosft
