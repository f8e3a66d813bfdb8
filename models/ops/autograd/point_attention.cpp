// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include "models/ops/autograd/attention_function.h"

namespace geosft {
namespace {

struct PointAttention : torch::autograd::Function<PointAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& leak, const at::Tensor& x, const at::Tensor& xs, const Optional& m,
                            const Optional& ms, const at::Tensor& w_mul, const at::Tensor& b_mul,
                            const at::Tensor& w_add, const at::Tensor& b_add, const Optional& q_ptr,
                            const Optional& k_ptr, double eps) {
    using Signature = std::tuple<at::Tensor, at::Tensor>(
        const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
        const at::Tensor&, const Optional&, const Optional&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
        const at::Tensor&, const Optional&, const Optional&, double);
    static const auto op = find_operator<Signature>("_point_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, denominator] = op.call(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
    save_attention(context, {out, denominator, q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr},
                   eps);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    using Signature = std::vector<at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                              const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                              const at::Tensor&, const at::Tensor&, const at::Tensor&, const Optional&,
                                              const Optional&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                              const at::Tensor&, const Optional&, const Optional&, double);
    static const auto op = find_operator<Signature>("_point_attention_backward");
    const variable_list s = context->get_saved_variables();
    const double eps = context->saved_data["eps"].toDouble();
    return attention_gradients("point_attention", grads[0], s, [&](const at::Tensor& grad) {
      return op.call(grad, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], present(s[8]), present(s[9]), s[10], s[11],
                     s[12], s[13], present(s[14]), present(s[15]), eps);
    });
  }
};

at::Tensor differentiable(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                          const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                          const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                          const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return PointAttention::apply(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, Autograd, m) {
  m.impl("point_attention", differentiable);
}

}  // namespace geosft
