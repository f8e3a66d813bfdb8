// SPDX-License-Identifier: Apache-2.0
// What the kernels and the autograd function of softmax_pool share.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace geosft {

// log_sum [B] is the logarithm of the denominator of each item's softmax, in the type that kernels compute in.
using SoftmaxPoolForward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& x, const at::Tensor& u,
                                                              const std::optional<at::Tensor>& ptr);
using SoftmaxPoolBackward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& grad, const at::Tensor& out,
                                                               const at::Tensor& log_sum, const at::Tensor& x,
                                                               const at::Tensor& u,
                                                               const std::optional<at::Tensor>& ptr);

// Types and shapes; the values of ptr are checked where they are read.
void check_softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr);

}  // namespace geosft
