// SPDX-License-Identifier: Apache-2.0
// Computes maxout attention with the edges of graphs as relative encoding. Operator geosft::graph_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// maxout_attention whose attention bias comes from the edges of a graph (SFT sections 4.3 and 4.4). Query i is node i.
// X_R[i, j] is the sum of edge_attr over the stored edges (i, j), 0 where there is none (duplicates add; self-loops are
// edges like others and none is implied). Key j stands for the nodes top[j] and partner[j] with weights p = weight[j]
// and 1 - p:
//   R[i, j] = p T(X_R[i, top[j]]) + (1 - p) T(X_R[i, partner[j]])
// with T(x) = softplus(x w_mul + b_mul) for r_mul and T(x) = x w_add + b_add for r_add. Pairs without an edge share one
// constant per head: the work is O(edges touched + n k), the memory O(edges touched).
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
//   rowptr int64 [Nq + 1], col int64 [E] in [0, Nq), in any order within a row: CSR of the packed graphs
//   edge_attr [E, r]: all channels, the one that is 1 on every edge included
//   top, partner int64 [Nk]: packed node rows within the item of key j; repeats and top = partner are allowed
//   weight [Nk]
//   w_mul, w_add [r, h], b_mul, b_add [h]
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
// floating arguments. The result has the same bits on any number of threads. Wrong shapes, dtypes, indices or ptr: an
// error naming the argument.
at::Tensor graph_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& edge_attr,
                           const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const std::optional<at::Tensor>& q_ptr = std::nullopt,
                           const std::optional<at::Tensor>& k_ptr = std::nullopt, double eps = 1e-6);

}  // namespace geosft
