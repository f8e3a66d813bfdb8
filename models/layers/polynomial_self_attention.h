// SPDX-License-Identifier: Apache-2.0
// Attention of all tokens over all tokens in almost linear time, as a layer.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <optional>
#include <vector>

#include "models/layers/forward_trace.h"
#include "models/ops/polynomial_degree.h"

namespace geosft {

struct PolynomialOptions {
  int64_t degree = 4;             // of the polynomial, where `tolerance` is 0
  double tolerance = 0.0;         // above 0: each call takes the least degree whose error bound is within it
  int64_t most_monomials = 5000;  // with a tolerance: of one head
  bool or_exact = false;          // where a tolerance takes more: exact attention, n x n, rather than an error
  bool causal = false;            // tokens see those before them and themselves
  bool center = true;             // keys minus their mean; without `causal` only
};

// concat_h(attention(x W_Q, x W_K, x W_V)) W_O with scale 1 / sqrt(c) in every head, all maps with a bias; no residual,
// no norm. See polynomial_attention for what replaces the exponential and for the source ("Multi-Layer Transformers
// Gradient Can be Approximated in Almost Linear Time"). Errors (c10::Error) name what does not fit.
class PolynomialSelfAttentionImpl : public torch::nn::Module {
 public:
  // An error where heads do not divide width, or for a negative degree or tolerance.
  PolynomialSelfAttentionImpl(int64_t width, int64_t heads, const PolynomialOptions& options);

  // x [N, width], of the floating type of the parameters, packed by ptr (int64 [B + 1], or none): [N, width] of the
  // same type. What polynomial_attention refuses (too many monomials, say) is refused here, and with a tolerance what
  // choose_polynomial_degree refuses, NonFiniteError for scores of NaN or infinity included.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  // What such a call does, for people to look at.
  AttentionTrace trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  // The degree that a call with these tokens takes, and the bound on its error (of attention weights, relative).
  PolynomialDegree degree_for(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  int64_t heads;
  PolynomialOptions options;
  // What the worst of the calls since this was emptied took. The bound is looked at where it chooses the degree, and in
  // evaluation mode.
  std::optional<PolynomialDegree> worst;
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};

 private:
  at::Tensor split(const at::Tensor& rows) const { return rows.view({rows.size(0), heads, -1}); }
  bool center() const { return options.center && !options.causal; }
  PolynomialDegree choose(const at::Tensor& q, const at::Tensor& k, const std::optional<at::Tensor>& ptr) const;
};
TORCH_MODULE(PolynomialSelfAttention);

// `worst` of those attention layers below a module that have one, in their order.
std::vector<PolynomialDegree> worst_degrees(const torch::nn::Module& module);

}  // namespace geosft
