// SPDX-License-Identifier: Apache-2.0
#include "models/ops/max_pool.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct MaxPool : torch::autograd::Function<MaxPool> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
    static const auto op = find_operator<MaxPoolForward>("_max_pool_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, row] = op.call(x, ptr);
    context->save_for_backward({x, row});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = find_operator<MaxPoolBackward>("_max_pool_backward");
    const variable_list s = context->get_saved_variables();
    variable_list gradients = once_differentiable("max_pool", {grads[0], s[0]},
                                                  [&] { return variable_list{op.call(grads[0], s[1], s[0].size(0))}; });
    gradients.emplace_back();  // no gradient for ptr
    return gradients;
  }
};

}  // namespace

at::Tensor max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  check_max_pool(x, ptr);
  check_transforms("max_pool", {x});
  return MaxPool::apply(x, ptr);
}

void check_max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(x.defined() && x.dim() == 2 && is_supported_float(x), "x must be [N, d] of ", supported_floats, ", got ",
              x.defined() ? c10::toString(x.scalar_type()) : "undefined", " ",
              x.defined() ? x.sizes() : at::IntArrayRef());
  check_ptr(ptr, "ptr", x);
}

void check_max_pool_backward(const at::Tensor& grad, const at::Tensor& row, int64_t rows) {
  TORCH_CHECK(grad.dim() == 2 && is_supported_float(grad), "grad must be [B, d] of ", supported_floats, ", got ",
              grad.scalar_type(), " ", grad.sizes());
  TORCH_CHECK(row.scalar_type() == at::kLong && row.sizes() == grad.sizes() && row.device() == grad.device(),
              "row must be int64 ", grad.sizes(), " on ", grad.device(), ", got ", row.scalar_type(), " ", row.sizes());
  TORCH_CHECK(rows >= 0, "rows must not be negative, got ", rows);
}

GEOSFT_OPERATORS(m) {
  m.def("_max_pool_forward(Tensor x, Tensor? ptr) -> (Tensor out, Tensor row)");
  m.def("_max_pool_backward(Tensor grad, Tensor row, int rows) -> Tensor");
}

}  // namespace geosft
