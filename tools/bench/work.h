// SPDX-License-Identifier: Apache-2.0
// The minimum arithmetic of an operator, in elements of the two register-tile loops (tile_rate.h), and the time that
// the machine needs for it at its peak rate: the bound that measurements are compared with.
#pragma once

#include <cstdint>

#include "tools/bench/tile_rate.h"

namespace geosft::bench {

struct Work {
  double max_add = 0;       // elements of sum += max(a, b)
  double multiply_add = 0;  // elements of sum += a * b
  double bytes = 0;         // inputs read once and results written once

  double elements() const { return max_add + multiply_add; }
};

// Sizes of one attention call: `pairs` query-key pairs over all items, widths of keys and values over all heads.
struct AttentionShape {
  double queries, keys, pairs, width;
  // Further products per pair for a relative encoding (2 h ds for sequences), counted as multiply-adds.
  double relative = 0;
};

// Attention with the maxout score, counted in elements (pairs * width):
//   forward   1 max+add (the score), 1 multiply-add (times V)
//   backward  1 max+add (the score again, since nothing of size n x k is kept), 1.5 max+add (a comparison and two
//   masked
//             sums, into the gradients of q and k: three instructions where a max+add has two), 2 multiply-add (the
//             gradients of the weights and of V)
// and relative products once forward, and three times backward (again, and into both factors). Bytes count q, k, v, the
// output and, backward, the gradients of all of them, in float32.
Work maxout_forward_work(const AttentionShape& shape);
Work maxout_both_work(const AttentionShape& shape);

// Softmax attention on scalar products: 2 multiply-adds forward, 5 backward (the score again, the gradients of the
// weights, V, q and k); exponentials are not counted.
Work dot_forward_work(const AttentionShape& shape);
Work dot_both_work(const AttentionShape& shape);

// Sizes of one call of polynomial_attention of all tokens over all: `items` counts items times heads, values are as
// wide as keys.
struct PolynomialShape {
  double items, tokens, channels, degree, monomials;
};

// Polynomial attention, in multiply-adds: through monomials, forward a token's with [v, 1] as a key and with their sums
// as a query (2 per monomial and column); backward the first again, since no sums are kept, the same for the queries,
// the slopes of both, the values' gradient, and 2 per monomial and side from slopes to channels. Pair by pair, forward
// the score, the polynomial and the product with [v, 1]; backward the score and the polynomial for either side, their
// product with the upstream gradient, and into q, k and v. What is less counts.
Work polynomial_forward_work(const PolynomialShape& shape);
Work polynomial_both_work(const PolynomialShape& shape);

// Time in seconds if nothing but the arithmetic of `work` costs anything.
double bound_seconds(const Work& work, const TileRates& rates);

}  // namespace geosft::bench
