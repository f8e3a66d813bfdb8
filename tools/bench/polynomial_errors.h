// SPDX-License-Identifier: Apache-2.0
// Measures errors of networks with polynomial attention relative to the same networks with softmax attention, forward
// and backward.
#pragma once

#include <cstdint>
#include <string>

namespace geosft::bench {

// A network of layers x + attention(x W_Q, x W_K, x W_V) W_O over 160 tokens, the first 10 of them a prompt, with
// random normal tokens, weights and targets, in double precision. With `feed_forward` its layers are those of a
// pre-norm transformer ("Multi-Layer Transformers Gradient Can be Approximated in Almost Linear Time", section 4.3):
//   y = x + attention(norm(x) W_Q, norm(x) W_K, norm(x) W_V) W_O,   y + gelu(norm(y) W_1) W_2
// where norm is layer normalisation and W_1 has four times as many columns as tokens have channels.
struct ErrorNetwork {
  int64_t layers = 1, heads = 1;
  double largest_score =
      1.0;  // R = max |scale q . k|: attained by softmax attention through the choice of each layer's scale
  bool causal = false;
  bool cross_entropy = false;  // else half the sum of squares
  int64_t channels = 8;        // per head
  bool center = false;         // subtract the mean of the keys before the polynomial; not with causal
  double mean = 0.0;           // standard deviation of a random normal vector added to all tokens
  bool feed_forward = false;
};

// Relative errors |polynomial - exact| / |exact| in the 2-norm, of the network's output and of the gradients of the
// loss; for weights, the maximum over the layers. w_1 and w_2 are 0 without `feed_forward`.
struct NetworkErrors {
  double out = 0, x = 0, prompt = 0, w_q = 0, w_k = 0, w_v = 0, w_o = 0, w_1 = 0, w_2 = 0;

  double largest_gradient() const;
  // Replaces each error by the maximum of the two.
  void raise(const NetworkErrors& other);
};

enum class PolynomialGradient {
  exact,  // the operator's gradient of the polynomial form
  paper,  // polynomial_low_rank_gradient
};

// Compares polynomial_attention, with the given gradient, to n x n softmax differentiated by autograd. Throws what
// polynomial_attention throws (too many monomials, `center` with `causal`).
NetworkErrors network_errors(const ErrorNetwork& network, int64_t degree,
                             PolynomialGradient gradient = PolynomialGradient::exact);

}  // namespace geosft::bench
