// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sequence_attention.h"

#include "models/ops/autograd/attention_function.h"

namespace geosft {
namespace {

struct SequenceAttention : torch::autograd::Function<SequenceAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& leak, const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                            const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                            const Optional& q_ptr, const Optional& k_ptr, double eps) {
    using Signature = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                         const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                         const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                         const at::Tensor&, const Optional&, const Optional&, double);
    static const auto op = find_operator<Signature>("_sequence_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, denominator] = op.call(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
    save_attention(context, {out, denominator, q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr}, eps);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    using Signature = std::vector<at::Tensor>(
        const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
        const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
        const at::Tensor&, const at::Tensor&, const at::Tensor&, const Optional&, const Optional&, double);
    static const auto op = find_operator<Signature>("_sequence_attention_backward");
    const variable_list s = context->get_saved_variables();
    const double eps = context->saved_data["eps"].toDouble();
    return attention_gradients("sequence_attention", grads[0], s, [&](const at::Tensor& grad) {
      return op.call(grad, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], present(s[12]),
                     present(s[13]), eps);
    });
  }
};

at::Tensor differentiable(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                          const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul, const at::Tensor& b_mul,
                          const at::Tensor& w_add, const at::Tensor& b_add, const Optional& q_ptr,
                          const Optional& k_ptr, double eps) {
  return SequenceAttention::apply(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, Autograd, m) {
  m.impl("sequence_attention", differentiable);
}

}  // namespace geosft
