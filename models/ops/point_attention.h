// SPDX-License-Identifier: Apache-2.0
// Computes maxout attention with points and normals as relative encoding. Operator geosft::point_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// maxout_attention whose attention bias comes from points (SFT sections 4.3 and 4.4): with
//   X_R[i, j] = (|d|^2, m_i . ms_j, m_i . d, ms_j . d, (m_i x ms_j) . d),   d = xs_j - x_i,
//   R_mul = softplus(X_R w_mul + b_mul),  R_add = X_R w_add + b_add
// as r_mul and r_add, computed inside and never stored n x k. The weights choose the channels, the first r of X_R:
// r = 1 without normals; with normals r = 2 (the paper's), r = 4 (with the angles of both normals to d) or r = 5. The
// fifth channel, a triple product, changes its sign under reflections; all are invariant to rotation and translation.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
//   x [Nq, 3], xs [Nk, 3] coordinates, in any unit (w_* take the inverse of that of each channel)
//   m [Nq, 3], ms [Nk, 3] normals, both or neither, of any length
//   w_mul, w_add [r, h], b_mul, b_add [h]
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
// floating arguments. O(Nq + Nk) memory. The result has the same bits on any number of threads. Wrong shapes, dtypes or
// ptr: an error naming the argument. Numbers are not checked: a NaN among the keys of an item reaches all of its rows.
at::Tensor point_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const std::optional<at::Tensor>& m,
                           const std::optional<at::Tensor>& ms, const at::Tensor& w_mul, const at::Tensor& b_mul,
                           const at::Tensor& w_add, const at::Tensor& b_add,
                           const std::optional<at::Tensor>& q_ptr = std::nullopt,
                           const std::optional<at::Tensor>& k_ptr = std::nullopt, double eps = 1e-6);

}  // namespace geosft
