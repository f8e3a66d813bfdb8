// SPDX-License-Identifier: Apache-2.0
// Errors of networks with polynomial attention relative to the same networks with softmax attention, forward and
// backward.
#pragma once

#include <cstdint>
#include <string>

namespace geosft::bench {

// Layers x + attention(x W_Q, x W_K, x W_V) W_O of 160 tokens, the first 10 of them a prompt; random normal tokens,
// weights and targets; in double precision.
struct ErrorNetwork {
  int64_t layers = 1, heads = 1;
  double largest_score = 1.0;  // R = max |scale q . k|: each layer's scale is chosen so that softmax attention has it
  bool causal = false;
  bool cross_entropy = false;  // else half the sum of squares
  int64_t channels = 8;        // of a head
  bool center = false;         // the polynomial sees keys minus their mean; not with causal
  double mean = 0.0;           // deviation of a random normal vector that is added to all tokens
};

// |polynomial - exact| / |exact|, of the norms: of the network's output, and of the loss's gradients, of weights the
// largest over the layers.
struct NetworkErrors {
  double out = 0, x = 0, prompt = 0, w_q = 0, w_k = 0, w_v = 0, w_o = 0;

  double largest_gradient() const;
  // The elementwise maximum.
  void raise(const NetworkErrors& other);
};

enum class PolynomialGradient {
  exact,  // the operator's, of the polynomial form
  paper,  // polynomial_low_rank_gradient
};

// polynomial_attention with that gradient beside softmax n x n, differentiated by autograd. What polynomial_attention
// refuses (too many monomials, `center` with `causal`) is refused with its error.
NetworkErrors network_errors(const ErrorNetwork& network, int64_t degree,
                             PolynomialGradient gradient = PolynomialGradient::exact);

}  // namespace geosft::bench
