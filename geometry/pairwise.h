// SPDX-License-Identifier: Apache-2.0
// Relative terms of all pairs of two packed batches of points: the channels of a point cloud's X_R (SFT section 4.3).
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Both: x [Nq, 3] and xs [Nk, 3] of one dtype (float32 or float64); q_ptr, k_ptr int64 [B + 1], given both or neither.
// Result [sum_b nq_b * nk_b], item by item, row-major (queries are rows). Differentiable in both, any number of times.
// Items follow each other, and the pairs of each are shared by all threads. Errors name the argument.

// |x_i - xs_j|^2 by direct differences, in units of length squared.
at::Tensor squared_distances(const at::Tensor& x, const at::Tensor& xs, const std::optional<at::Tensor>& q_ptr = {},
                             const std::optional<at::Tensor>& k_ptr = {});

// m_i . ms_j of normals (any vectors).
at::Tensor normal_products(const at::Tensor& m, const at::Tensor& ms, const std::optional<at::Tensor>& q_ptr = {},
                           const std::optional<at::Tensor>& k_ptr = {});

}  // namespace geosft
