// SPDX-License-Identifier: Apache-2.0
// Gradients that cannot be differentiated again say so, instead of being silently constant.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

namespace geosft {

// The tensors that `compute` returns, undefined ones as they are, which it computes from `inputs` below autograd. When
// one of `inputs` requires a gradient (create_graph), differentiating the result throws "double backward of <op> is not
// supported".
std::vector<at::Tensor> once_differentiable(const std::string& op, const std::vector<at::Tensor>& inputs,
                                            const std::function<std::vector<at::Tensor>()>& compute);

}  // namespace geosft
