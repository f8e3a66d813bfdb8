// SPDX-License-Identifier: Apache-2.0
#include "models/ops/low_rank_gradient.h"

#include <torch/csrc/autograd/custom_function.h>

#include "models/ops/once_differentiable.h"
#include "models/ops/polynomial_attention.h"
#include "models/ops/polynomial_attention_checks.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LowRankPolynomial : torch::autograd::Function<LowRankPolynomial> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const PolynomialArguments& a) {
    check_low_rank(q);  // here, so that what cannot be differentiated is not found out in the backward pass only
    const at::Tensor none;
    context->save_for_backward({q, k, v, a.q_ptr.value_or(none), a.k_ptr.value_or(none)});
    context->saved_data["degree"] = a.degree;
    context->saved_data["scale"] = a.scale;
    context->saved_data["causal"] = a.causal;
    context->saved_data["center"] = a.center;
    context->set_materialize_grads(false);
    return {polynomial_attention(q, k, v, a.degree, a.scale, a.causal, a.q_ptr, a.k_ptr, a.center)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    const variable_list s = context->get_saved_variables();
    const auto offsets = [&](size_t i) { return s[i].defined() ? std::optional(s[i]) : std::nullopt; };
    auto& numbers = context->saved_data;
    variable_list gradients = once_differentiable("polynomial_attention_low_rank", {grads[0], s[0], s[1], s[2]}, [&] {
      const AttentionGradient one = polynomial_low_rank_gradient(
          grads[0], s[0], s[1], s[2], numbers["degree"].toInt(), numbers["scale"].toDouble(),
          numbers["causal"].toBool(), offsets(3), offsets(4), numbers["center"].toBool());
      return variable_list{one.q, one.k, one.v};
    });
    gradients.emplace_back();  // none for the other arguments
    return gradients;
  }
};

}  // namespace

at::Tensor polynomial_attention_low_rank(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                         double scale, bool causal, const std::optional<at::Tensor>& q_ptr,
                                         const std::optional<at::Tensor>& k_ptr, bool center) {
  return LowRankPolynomial::apply(q, k, v,
                                  PolynomialArguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center})[0];
}

}  // namespace geosft
