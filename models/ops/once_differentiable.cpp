// SPDX-License-Identifier: Apache-2.0
#include "models/ops/once_differentiable.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Refusal : torch::autograd::Function<Refusal> {
  static variable_list forward(AutogradContext* context, const std::string& op,
                               const std::function<std::vector<at::Tensor>()>& compute,
                               at::TensorList /*differentiable*/) {
    context->saved_data["op"] = op;
    at::AutoDispatchBelowADInplaceOrView below;
    return compute();
  }
  static variable_list backward(AutogradContext* context, const variable_list& /*grads*/) {
    TORCH_CHECK(false, "double backward of ", context->saved_data["op"].toStringRef(), " is not supported");
  }
};

}  // namespace

std::vector<at::Tensor> once_differentiable(const std::string& op, const std::vector<at::Tensor>& inputs,
                                            const std::function<std::vector<at::Tensor>()>& compute) {
  std::vector<at::Tensor> differentiable;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && input.is_floating_point()) differentiable.push_back(input);
  }
  // Autograd functions cannot return undefined tensors.
  std::vector<bool> none;
  const auto defined = [&] {
    std::vector<at::Tensor> results = compute();
    for (at::Tensor& result : results) {
      none.push_back(!result.defined());
      if (none.back()) result = at::empty({0});
    }
    return results;
  };
  std::vector<at::Tensor> results =
      Refusal::apply(op, std::function<std::vector<at::Tensor>()>(defined), at::TensorList(differentiable));
  for (size_t i = 0; i < results.size(); ++i) {
    if (none[i]) results[i] = at::Tensor();
  }
  return results;
}

torch::autograd::variable_list forward_results(torch::autograd::AutogradContext* context, const at::Tensor& out,
                                               const at::Tensor& second) {
  context->mark_non_differentiable({second});
  context->set_materialize_grads(false);
  return {out, second};
}

std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace geosft
