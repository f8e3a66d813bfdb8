// SPDX-License-Identifier: Apache-2.0
// Marks a backward pass as not differentiable, like torch.autograd.function.once_differentiable: double backward throws
// instead of returning silently wrong gradients.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

namespace geosft {

// Returns what `compute` returns; it runs below autograd and computes from `inputs`. Undefined tensors stay undefined.
// If one of `inputs` requires a gradient (create_graph), differentiating a result throws "double backward of <op> is
// not supported".
std::vector<at::Tensor> once_differentiable(const std::string& op, const std::vector<at::Tensor>& inputs,
                                            const std::function<std::vector<at::Tensor>()>& compute);

}  // namespace geosft
