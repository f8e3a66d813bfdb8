// SPDX-License-Identifier: Apache-2.0
// Computes the minimum arithmetic of an operator, in elements of the two register-tile loops (tile_rate.h), and a lower
// bound of its time at the machine's peak rates.
#pragma once

#include <cstdint>

#include "tools/bench/machine.h"

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
//   backward  1 max+add (the score again, since no n x k intermediate is kept),
//             1.5 max+add (a comparison and two masked sums into the gradients of q and k: 3 instructions vs. 2),
//             2 multiply-add (the gradients of the weights and of V)
// Relative products count once forward and three times backward (recomputation, gradients of both factors). Bytes count
// q, k, v, the output and, backward, the gradients of all of them, in float32.
Work maxout_forward_work(const AttentionShape& shape);
Work maxout_both_work(const AttentionShape& shape);

// Softmax attention on scalar products: 2 multiply-adds forward, 5 backward (the score again, the gradients of the
// weights, V, q and k); exponentials are not counted.
Work dot_forward_work(const AttentionShape& shape);
Work dot_both_work(const AttentionShape& shape);

// Sizes of one call of polynomial_attention over all tokens: `items` counts items times heads; values are as wide as
// keys.
struct PolynomialShape {
  double items, tokens, channels, degree, monomials;
};

// Polynomial attention, counted in multiply-adds: the minimum of two algorithms. Through monomials, forward: sums of
// the keys' monomials times [v, 1], and their products with the queries' monomials (2 per monomial and column);
// backward: the sums again, since they are not kept, the corresponding sums over queries, the gradients of both sets of
// monomials, the gradient of v, and 2 per monomial for each of q and k from monomials to channels. Per pair, forward:
// the score, the polynomial and the product with [v, 1]; backward: the score, the polynomial and the product with
// grad_output, once for queries and once for keys, and the products into the gradients of q, k and v.
Work polynomial_forward_work(const PolynomialShape& shape);
Work polynomial_both_work(const PolynomialShape& shape);

// Returns the time in seconds of the arithmetic of `work` alone, at peak rates.
double bound_seconds(const Work& work, const TileRates& rates);

}  // namespace geosft::bench
