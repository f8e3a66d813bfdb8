// SPDX-License-Identifier: Apache-2.0
// A layer of softmax attention over all tokens, approximated by a polynomial in almost linear time.
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

// Names the factor of the scores q . k in a head of c channels: 1 / sqrt(c), as in transformers, or 1 / c, as in the
// paper.
enum class ScoreScale { inverse_sqrt, inverse };

struct PolynomialOptions {
  int64_t degree = 4;            // of the polynomial, if `tolerance` is 0
  double tolerance = 0.0;        // if positive, each call takes the minimum degree whose error bound is within it
  int64_t max_monomials = 5000;  // with a tolerance: of one head
  bool or_exact = false;         // if the tolerance needs more: exact attention, n x n, instead of an error
  bool causal = false;           // tokens attend to earlier tokens and themselves
  bool center = true;            // keys minus their mean; without `causal` only
  ScoreScale score_scale = ScoreScale::inverse_sqrt;
};

// concat_h(attention(x W_Q, x W_K, x W_V)) W_O with the chosen scale in every head, all maps with a bias; no residual,
// no norm. See polynomial_attention for what replaces the exponential and for the source ("Multi-Layer Transformers
// Gradient Can be Approximated in Almost Linear Time"). Errors (c10::Error) name the argument.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class PolynomialSelfAttentionImpl : public torch::nn::Module {
 public:
  // Throws unless heads divides width and degree and tolerance are not negative.
  PolynomialSelfAttentionImpl(int64_t width, int64_t heads, const PolynomialOptions& options);

  // x [N, width], of the floating type of the parameters, packed by ptr (int64 [B + 1], or none): [N, width] of the
  // same type. Throws what polynomial_attention throws (for too many monomials, say) and, with a tolerance, what
  // choose_polynomial_degree throws, including NonFiniteError for scores of NaN or infinity.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  // Returns the trace of such a call.
  AttentionTrace trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  // Returns the degree that a call with these tokens takes, and the bound on the relative error of its attention
  // weights.
  PolynomialDegree degree_for(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

  int64_t heads;
  PolynomialOptions options;
  // The worst bound of all calls since this was last reset. The bound is computed if there is a tolerance, and in
  // evaluation mode.
  std::optional<PolynomialDegree> worst;
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};

 private:
  at::Tensor split(const at::Tensor& rows) const { return rows.unflatten(1, {heads, -1}); }
  bool center() const { return options.center && !options.causal; }
  double scale() const;  // of the scores
  PolynomialDegree choose(const at::Tensor& q, const at::Tensor& k, const std::optional<at::Tensor>& ptr) const;
};
TORCH_MODULE(PolynomialSelfAttention);

// Returns `worst` of all attention layers in a module that have one, in their order.
std::vector<PolynomialDegree> worst_degrees(const torch::nn::Module& module);

}  // namespace geosft
