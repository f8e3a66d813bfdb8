// SPDX-License-Identifier: Apache-2.0
// Convolves queries and keys with one kernel for all channels of a head (Attention-Conv1D and Conv2D: "A
// Primal-Dual Framework for Transformers and Neural Networks", definitions 3 and 4).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// Returns y[i, h] = sum_a weight[h, a] x[i + a - (s - 1) / 2, h] within each item, zero-padded at its ends.
//   x [N, h, c], items `offsets`; weight [h, s], or [1, s] for all heads; result like x
at::Tensor convolve_sequence(const at::Tensor& x, const at::Tensor& weight, const std::vector<int64_t>& offsets);

// Computes the same in two dimensions, on grids of height * width tokens per item, row-major; weight [h, s, s] or [1,
// s, s].
at::Tensor convolve_grid(const at::Tensor& x, const at::Tensor& weight, int64_t height, int64_t width);

}  // namespace geosft
