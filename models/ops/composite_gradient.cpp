// SPDX-License-Identifier: Apache-2.0
#include "models/ops/composite_gradient.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>

#include "geometry/no_autocast.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

// Enables autograd inside a kernel.
struct AutogradWithin {
  AutogradWithin() : mode(true), guard(let_in()) {}
  static c10::impl::LocalDispatchKeySet let_in() {
    c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
    keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
    return keys;
  }
  at::AutoGradMode mode;
  c10::impl::ForceDispatchKeyGuard guard;
};

}  // namespace

std::vector<at::Tensor> composite_gradients(const at::Tensor& grad, const std::vector<at::Tensor>& inputs,
                                            const std::function<at::Tensor(const std::vector<at::Tensor>&)>& compute) {
  const NoAutocast no_autocast;
  const AutogradWithin within;
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(true));
  const at::Tensor out = compute(leaves);
  std::vector<at::Tensor> gradients(leaves.size());
  if (out.requires_grad()) {  // false where the result depends on no input
    gradients = torch::autograd::grad({out}, leaves, {grad.detach().to(out.scalar_type())}, std::nullopt, false,
                                      /*allow_unused=*/true);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = at::zeros_like(leaves[i]);
    gradients[i] = gradients[i].detach().contiguous();
  }
  return gradients;
}

bool needs_gradient(at::TensorList inputs) {
  for (const at::Tensor& input : inputs) {
    if (!input.defined()) continue;
    if (input._fw_grad(/*level=*/0).defined() || (at::GradMode::is_enabled() && input.requires_grad())) return true;
  }
  return false;
}

PointGradients point_gradients(
    const at::Tensor& grad, const at::Tensor& points, const std::optional<at::Tensor>& normals,
    const std::function<at::Tensor(const at::Tensor& points, const at::Tensor& normals)>& compute) {
  std::vector<at::Tensor> inputs{points};
  if (given(normals)) inputs.push_back(*normals);
  const std::vector<at::Tensor> gradients =
      composite_gradients(grad, inputs, [&](const std::vector<at::Tensor>& leaves) {
        return compute(leaves[0], leaves.size() > 1 ? leaves[1] : at::Tensor());
      });
  return {gradients[0], gradients.size() > 1 ? gradients[1] : points.new_empty({0})};
}

PointGradients point_gradients_meta(const at::Tensor& points, const std::optional<at::Tensor>& normals) {
  const auto like = [](const at::Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); };
  return {like(points), given(normals) ? like(*normals) : points.new_empty({0})};
}

}  // namespace geosft
