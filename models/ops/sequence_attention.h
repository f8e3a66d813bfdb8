// SPDX-License-Identifier: Apache-2.0
// Computes maxout attention with position encodings as relative encoding. Operator geosft::sequence_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// maxout_attention whose attention bias comes from position encodings (SFT sections 4.3 and 4.4): with
//   X_R[i, j, t] = s[i, t] ss[j, t]
//   R_mul = softplus(X_R w_mul + b_mul),  R_add = X_R w_add + b_add
// as r_mul and r_add: two matrix products per head, computed inside and never stored n x k.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
//   s [Nq, ds], ss [Nk, ds], ds >= 1: sinusoids (or anything else) of queries and keys
//   w_mul, w_add [ds, h], b_mul, b_add [h]
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
// floating arguments. O(Nq + Nk) memory. The result has the same bits on any number of threads. Wrong shapes, dtypes or
// ptr: an error naming the argument.
at::Tensor sequence_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                              const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                              const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                              const std::optional<at::Tensor>& q_ptr = std::nullopt,
                              const std::optional<at::Tensor>& k_ptr = std::nullopt, double eps = 1e-6);

}  // namespace geosft
