// SPDX-License-Identifier: Apache-2.0
// Marks a backward pass as not differentiable, like torch.autograd.function.once_differentiable: double backward throws
// instead of returning silently wrong gradients.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <functional>
#include <optional>
#include <string>

namespace geosft {

// Returns what `compute` returns; it runs below autograd and computes from `inputs`. Undefined tensors stay undefined.
// If one of `inputs` requires a gradient (create_graph), differentiating a result throws "double backward of <op> is
// not supported".
std::vector<at::Tensor> once_differentiable(const std::string& op, const std::vector<at::Tensor>& inputs,
                                            const std::function<std::vector<at::Tensor>()>& compute);

// Returns what the forward function of autograd returns for an operator whose second result is only for its backward
// pass: `out` alone is differentiable. An undefined gradient stays undefined.
torch::autograd::variable_list forward_results(torch::autograd::AutogradContext* context, const at::Tensor& out,
                                               const at::Tensor& second);

// Returns a saved tensor as the argument of an operator: none if it is undefined.
std::optional<at::Tensor> if_defined(const at::Tensor& tensor);

}  // namespace geosft
