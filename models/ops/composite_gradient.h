// SPDX-License-Identifier: Apache-2.0
// Gives operators the gradients of formulas of LibTorch's operators, which kernels differentiate although autograd is
// switched off inside of them. On a GPU the sums of these gradients have no fixed order.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <tuple>
#include <vector>

namespace geosft {

// Returns the gradients of `compute` in `inputs`, whose cotangent is `grad`, each of the shape and type of its input.
// `compute` is given copies of the inputs that require gradients, in their order.
std::vector<at::Tensor> composite_gradients(const at::Tensor& grad, const std::vector<at::Tensor>& inputs,
                                            const std::function<at::Tensor(const std::vector<at::Tensor>&)>& compute);

// Says whether one of the inputs, which may be undefined, is differentiated, backward or forward.
bool needs_gradient(at::TensorList inputs);

// The gradients of points and normals; the second is empty where there are no normals.
using PointGradients = std::tuple<at::Tensor, at::Tensor>;
// Returns those of an operator on points and normals, and empty ones of their shapes.
PointGradients point_gradients(
    const at::Tensor& grad, const at::Tensor& points, const std::optional<at::Tensor>& normals,
    const std::function<at::Tensor(const at::Tensor& points, const at::Tensor& normals)>& compute);
PointGradients point_gradients_meta(const at::Tensor& points, const std::optional<at::Tensor>& normals);

}  // namespace geosft
