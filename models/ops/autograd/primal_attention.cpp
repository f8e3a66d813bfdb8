// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_attention.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/primal_attention_checks.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::optional<at::Tensor> where_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

struct Primal : torch::autograd::Function<Primal> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const std::optional<at::Tensor>& beta, const PrimalArguments& a) {
    static const auto op = find_operator<PrimalForward>("_primal_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, normalizer] =
        op.call(q, k, v, beta, a.pool, a.kernel, a.eps, a.q_ptr, a.k_ptr, a.mask_rowptr, a.mask_col, a.scale);
    variable_list saved{out, normalizer, q, k, v};
    for (const auto* optional : {&beta, &a.q_ptr, &a.k_ptr, &a.mask_rowptr, &a.mask_col}) {
      saved.push_back(optional->value_or(at::Tensor()));
    }
    context->save_for_backward(std::move(saved));
    context->saved_data["pool"] = a.pool.has_value() ? c10::IValue(*a.pool) : c10::IValue();
    context->saved_data["kernel"] = std::string(a.kernel);
    context->saved_data["eps"] = a.eps;
    context->saved_data["scale"] = a.scale;
    context->mark_non_differentiable({normalizer});
    context->set_materialize_grads(false);
    return {out, normalizer};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(5);
    static const auto op = find_operator<PrimalBackward>("_primal_attention_backward");
    const variable_list s = context->get_saved_variables();
    auto& numbers = context->saved_data;
    const std::vector<int64_t> pool = numbers["pool"].isNone() ? std::vector<int64_t>() : numbers["pool"].toIntVector();
    variable_list gradients = once_differentiable("primal_attention", {grads[0], s[2], s[3], s[4], s[5]}, [&] {
      return op.call(grads[0], s[0], s[1], s[2], s[3], s[4], where_defined(s[5]),
                     pool.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(pool),
                     numbers["kernel"].toStringView(), numbers["eps"].toDouble(), where_defined(s[6]),
                     where_defined(s[7]), where_defined(s[8]), where_defined(s[9]),
                     numbers["scale"].toOptional<double>());
    });
    gradients.resize(5);  // none for beta where it is absent, and for the other arguments
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_primal(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::optional<at::Tensor>& beta,
    at::OptionalIntArrayRef pool, std::string_view kernel, double eps, const std::optional<at::Tensor>& q_ptr,
    const std::optional<at::Tensor>& k_ptr, const std::optional<at::Tensor>& mask_rowptr,
    const std::optional<at::Tensor>& mask_col, std::optional<double> scale) {
  const PrimalArguments arguments{q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale};
  arguments.check();  // apply takes only what is a tensor
  const variable_list results = Primal::apply(q, k, v, beta, arguments);
  return {results[0], results[1]};
}

}  // namespace

GEOSFT_KERNELS(Autograd, m) {
  m.impl("_primal_attention_forward", differentiable_primal);
}

}  // namespace geosft
