// SPDX-License-Identifier: Apache-2.0
// Computes the gradient of polynomial attention that "Multi-Layer Transformers Gradient Can be Approximated in Almost
// Linear Time" proposes, for comparison with the exact one.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

struct AttentionGradient {
  at::Tensor q, k, v;
};

// Computes the other gradient of polynomial_attention, that of "Multi-Layer Transformers Gradient Can be Approximated
// in Almost Linear Time": softmax's own formula with the attention matrix f in its low-rank form U1 V1^T. With h the
// values, G the gradient of the result, (x) the row-wise Kronecker product and rho_i = <G_i, out_i>:
//   U3 = [U1 (x) G, -diag(rho) U1],  V3 = [V1 (x) h, V1],  dq = scale U3 (V3^T k),  dk = scale V3 (U3^T q),  dv = f^T G
// It is for comparison. At one degree it is nearer to the gradient of softmax than the operator's, which is the exact
// gradient of the polynomial form (and so of the loss that is minimised), but it costs O(n m cv c) time, c times more;
// U3 and V3 are made a block of tokens at a time, so memory is O(n (c + cv) + m cv c). Both agree as the degree grows.
//
// grad [Nq, h, cv]; the other arguments are those of polynomial_attention, on the CPU, float32 or float64: others are
// an error. Not differentiable.
AttentionGradient polynomial_low_rank_gradient(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, int64_t degree, double scale, bool causal = false,
                                               const std::optional<at::Tensor>& q_ptr = std::nullopt,
                                               const std::optional<at::Tensor>& k_ptr = std::nullopt,
                                               bool center = false);

// polynomial_attention, differentiable once in q, k and v by that gradient instead of its own; of the types and devices
// that it takes.
at::Tensor polynomial_attention_low_rank(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                         double scale, bool causal = false,
                                         const std::optional<at::Tensor>& q_ptr = std::nullopt,
                                         const std::optional<at::Tensor>& k_ptr = std::nullopt, bool center = false);

}  // namespace geosft
