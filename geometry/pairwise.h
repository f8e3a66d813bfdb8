// SPDX-License-Identifier: Apache-2.0
// Squared distances and dot products of normals for all query-key pairs of two packed batches: the channels of the
// relative encoding X_R of point clouds (SFT section 4.3). Public, so that encodings and models of your own can use
// them; the attention operators compute the same without storing the pairs.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Both functions: x [Nq, 3] and xs [Nk, 3] of one dtype (float32 or float64); q_ptr, k_ptr int64 [B + 1], given both or
// neither. The result is [sum_b nq_b * nk_b], item by item, row-major (rows are queries). Differentiable in both, any
// number of times. The items are processed one after the other, the pairs of each in parallel. Errors name the
// argument.

// Returns |x_i - xs_j|^2 by direct differences, in units of length squared.
at::Tensor squared_distances(const at::Tensor& x, const at::Tensor& xs, const std::optional<at::Tensor>& q_ptr = {},
                             const std::optional<at::Tensor>& k_ptr = {});

// Returns m_i . ms_j of normals (any vectors).
at::Tensor normal_products(const at::Tensor& m, const at::Tensor& ms, const std::optional<at::Tensor>& q_ptr = {},
                           const std::optional<at::Tensor>& k_ptr = {});

}  // namespace geosft
