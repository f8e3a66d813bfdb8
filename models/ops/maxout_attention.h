// SPDX-License-Identifier: Apache-2.0
// Computes maxout attention over packed batches. Operator geosft::maxout_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Attention with the maxout score and the leaky relu probability (SFT section 4.3), per item and head:
//   S[i, j] = r_mul[i, j] * sum_t max(q[i, t], k[j, t]) / sqrt(c) + r_add[i, j]
//   out[i]  = sum_j relu(S[i, j]) v[j] / (sum_j (relu(S[i, j]) + softplus(leak[j])) + eps)
// A denominator of 0 (or below the smallest normal number) gives a row of zeros. Where q = k the gradient of the
// maximum goes to q. NaN in a query, key, value or leak reaches every row that depends on it.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h] (before its softplus; -inf is allowed)
//   r_mul, r_add [sum_b nq_b * nk_b, h], final values (r_mul past its softplus), item by item, row-major; 1 and 0 if
//     absent. They are n x k: for terms that can be computed from O(n + k) numbers use point_attention,
//     sequence_attention or graph_attention.
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in q, k, v,
// leak, r_mul and r_add. The result has the same bits on any number of threads. Wrong shapes, dtypes or ptr: an error
// naming the argument.
//
// Memory, of this and the other attention operators: nothing n x k beyond r_*. What forward and backward keep beside
// results and gradients is the denominator [Nq, h] in float32 or float64 (1/c of q, 2/c of a half type) and copies of
// gradients that several threads add to (3 % of q, k and v and 2 MiB, or more where weights of an attention bias are
// large): a tenth of q, k and v and 2 MiB for heads of 15 channels, 29 of half types. Each thread has scratch beside:
// tiles and, for half types, the float32 gradients of the keys and values that it works on: of one item, and of a part
// of the heads where items are few.
at::Tensor maxout_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                            const std::optional<at::Tensor>& r_mul = std::nullopt,
                            const std::optional<at::Tensor>& r_add = std::nullopt,
                            const std::optional<at::Tensor>& q_ptr = std::nullopt,
                            const std::optional<at::Tensor>& k_ptr = std::nullopt, double eps = 1e-6);

}  // namespace geosft
