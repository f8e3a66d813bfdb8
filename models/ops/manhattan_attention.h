// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "models/ops/attention_inputs.h"

namespace geosft {

// maxout_attention whose attention bias comes from points (SFT sections 4.3 and 4.4): with
//   X_R[i, j] = (|x_i - xs_j|_1, m_i . ms_j)      the second channel only with normals, r = 1 or 2 channels
//   R_mul = softplus(X_R w_mul + b_mul),  R_add = X_R w_add + b_add
// as r_mul and r_add, computed inside and never stored n x k.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
//   x [Nq, 3], xs [Nk, 3] coordinates, in any unit (w_* take squared units); m [Nq, 3], ms [Nk, 3] normals, both or
//     neither, of any length
//   w_mul, w_add [r, h], b_mul, b_add [h]
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
// floating arguments. O(Nq + Nk) memory. The result has the same bits on any number of threads. Wrong shapes, dtypes or
// ptr: an error naming the argument.
at::Tensor manhattan_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const std::optional<at::Tensor>& m,
                           const std::optional<at::Tensor>& ms, const at::Tensor& w_mul, const at::Tensor& b_mul,
                           const at::Tensor& w_add, const at::Tensor& b_add,
                           const std::optional<at::Tensor>& q_ptr = std::nullopt,
                           const std::optional<at::Tensor>& k_ptr = std::nullopt, double eps = 1e-6);

// For the kernels and the autograd function.
struct ManhattanInputs : WeightedInputs {
  ManhattanInputs(const OptionalTensors& inputs, double eps_) : WeightedInputs(inputs, eps_, 14) {}
  static constexpr const char* kOperator = "manhattan_attention";
  void check() const;
  const at::Tensor& x() const { return own(0); }
  const at::Tensor& xs() const { return own(1); }
  const at::Tensor& m() const { return own(2); }
  const at::Tensor& ms() const { return own(3); }
};

}  // namespace geosft
