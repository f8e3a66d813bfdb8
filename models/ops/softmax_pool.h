// SPDX-License-Identifier: Apache-2.0
// Pools packed rows by softmax weights. Operator geosft::softmax_pool.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace geosft {

// Pools the rows of each item with softmax weights, sum_i w_i x_i with w = softmax(x u): the aggregation of tokens
// before the last linear map (SFT section 5).
//
//   x [N, d], u [d], d >= 1
//   ptr int64 [B + 1]: items of packed rows; None: one item
//   result [B, d], zeros for an empty item
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in x and u.
// The result has the same bits on any number of threads. Working memory is a row of d numbers for every 512 rows of an
// item, one at least, and for half types a copy of x in float32. Wrong shapes, dtypes or ptr: an error naming the
// argument.
at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr = std::nullopt);

// For the kernels and the autograd function.

// log_sum [B] is the logarithm of the denominator of each item's softmax, in the type that kernels compute in.
using SoftmaxPoolForward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& x, const at::Tensor& u,
                                                              const std::optional<at::Tensor>& ptr);
using SoftmaxPoolBackward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& grad, const at::Tensor& out,
                                                               const at::Tensor& log_sum, const at::Tensor& x,
                                                               const at::Tensor& u,
                                                               const std::optional<at::Tensor>& ptr);

// Checks types and shapes; the values of ptr are checked where they are read.
void check_softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr);

}  // namespace geosft
