// SPDX-License-Identifier: Apache-2.0
// Pools packed rows by their maximum.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace geosft {

// The maximum of each channel over the rows of each item:
//   x [N, d] packed by ptr (int64 [B + 1], or none for one item); result [B, d] of the type of x, 0 for an empty item
//
// float32, float64, float16 or bfloat16. Differentiable once: the gradient goes to the first row that has the maximum;
// NaN is larger than any number. A batch of no items, ptr = [0], gives [0, d]. Wrong shapes, dtypes or ptr: an error
// naming the argument.
at::Tensor max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

// For the kernels and the autograd function.

// Results [B, d]: the maxima, and the rows that have them, int64, -1 for an empty item.
using MaxPoolForward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& x, const std::optional<at::Tensor>& ptr);
// The gradient [N, d] of x from that of the maxima [B, d].
using MaxPoolBackward = at::Tensor(const at::Tensor& grad, const at::Tensor& row, int64_t rows);

// Checks types and shapes.
void check_max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr);
void check_max_pool_backward(const at::Tensor& grad, const at::Tensor& row, int64_t rows);

}  // namespace geosft
