// SPDX-License-Identifier: Apache-2.0
// Sums the columns of a matrix for batch normalisation.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// Returns the sums over the rows of a and of a * b, for the statistics of batch normalisation and their gradient: with
// b = a, sums and sums of squares.
//   a, b [n, d] of one dtype: float32, float64, or float16 and bfloat16; result float64 [2, d]
// Sums are made in float64 and in a fixed order: the same bits on any number of threads. Not differentiable. Wrong
// shapes or dtypes: an error naming the argument.
at::Tensor column_sums(const at::Tensor& a, const at::Tensor& b);

// For the kernels.

inline constexpr int64_t kSummedRows = 256;  // rows of a block, whose sums are added in order

void check_column_sums(const at::Tensor& a, const at::Tensor& b);

}  // namespace geosft
