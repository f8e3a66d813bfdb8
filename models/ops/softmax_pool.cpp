// SPDX-License-Identifier: Apache-2.0
#include "models/ops/softmax_pool.h"

#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

std::tuple<at::Tensor, at::Tensor> pool_forward_meta(const at::Tensor& x, const at::Tensor& u,
                                                     const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x, u, ptr);
  const auto computed = x.options().dtype(at::toOpMathType(x.scalar_type()));
  return {at::empty_symint({item_count(ptr), x.sym_size(1)}, computed), at::empty_symint({item_count(ptr)}, computed)};
}

std::tuple<at::Tensor, at::Tensor> pool_backward_meta(const at::Tensor& /*grad*/, const at::Tensor& /*out*/,
                                                      const at::Tensor& /*log_sum*/, const at::Tensor& x,
                                                      const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x, u, ptr);
  return {at::empty_symint(x.sym_sizes(), x.options()), at::empty_symint(u.sym_sizes(), u.options())};
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SoftmaxPool : torch::autograd::Function<SoftmaxPool> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& u,
                               const std::optional<at::Tensor>& ptr) {
    static const auto op = find_operator<SoftmaxPoolForward>("_softmax_pool_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, log_sum] = op.call(x, u, ptr);
    context->save_for_backward({out, log_sum, x, u, ptr.value_or(at::Tensor())});
    return forward_results(context, out, log_sum);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(3);
    static const auto op = find_operator<SoftmaxPoolBackward>("_softmax_pool_backward");
    const variable_list s = context->get_saved_variables();
    variable_list gradients = once_differentiable("softmax_pool", {grads[0], s[2], s[3]}, [&] {
      const auto [x_grad, u_grad] = op.call(grads[0], s[0], s[1], s[2], s[3], if_defined(s[4]));
      return variable_list{x_grad, u_grad};
    });
    gradients.emplace_back();  // no gradient for ptr
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_pool(const at::Tensor& x, const at::Tensor& u,
                                                       const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x, u, ptr);  // before apply, which requires defined tensors
  check_transforms("softmax_pool", {x, u});
  const variable_list results = SoftmaxPool::apply(x, u, ptr);
  return {results[0], results[1]};
}

}  // namespace

at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  static const auto op = find_operator<SoftmaxPoolForward>("_softmax_pool_forward");
  // Rounded here, because the gradients are computed from the unrounded result.
  return std::get<0>(op.call(x, u, ptr)).to(x.scalar_type());
}

void check_softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(x.defined(), "x must be a tensor");
  TORCH_CHECK(u.defined(), "u must be a tensor");
  TORCH_CHECK(x.dim() == 2, "x must be [N, d], got shape ", x.sym_sizes());
  TORCH_CHECK(is_supported_float(x), "x must be ", supported_floats, ", not ", x.scalar_type());
  TORCH_SYM_CHECK(x.sym_size(1).sym_ge(1), "x must have at least one channel, got shape ", x.sym_sizes());
  TORCH_CHECK(u.scalar_type() == x.scalar_type(), "u must have the dtype of x, ", x.scalar_type(), ", not ",
              u.scalar_type());
  TORCH_CHECK(u.device() == x.device(), "u must be on the device of x, ", x.device(), ", not ", u.device());
  TORCH_CHECK(u.dim() == 1, "u must be [d], got shape ", u.sym_sizes());
  TORCH_SYM_CHECK(u.sym_size(0).sym_eq(x.sym_size(1)), "u must be [d] with the d of x, ", x.sym_size(1), ", got shape ",
                  u.sym_sizes());
  check_ptr(ptr, "ptr", x);
}

GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CompositeImplicitAutograd>(
      m, "softmax_pool(Tensor x, Tensor u, Tensor? ptr=None) -> Tensor", softmax_pool);
  define_operator<c10::DispatchKey::Meta, c10::DispatchKey::Autograd>(
      m, "_softmax_pool_forward(Tensor x, Tensor u, Tensor? ptr) -> (Tensor out, Tensor log_sum)", pool_forward_meta,
      differentiable_pool);
  define_operator<c10::DispatchKey::Meta>(
      m,
      "_softmax_pool_backward(Tensor grad, Tensor out, Tensor log_sum, Tensor x, Tensor u, Tensor? ptr) -> "
      "(Tensor x_grad, Tensor u_grad)",
      pool_backward_meta);
}

}  // namespace geosft
