// SPDX-License-Identifier: Apache-2.0
// Chooses the degree of polynomial_attention for a given accuracy. The polynomial is that of "Multi-Layer Transformers
// Gradient Can be Approximated in Almost Linear Time", which bounds its error asymptotically; here the error is
// computed, including rounding: the derivation is at rounding_error in the .cpp.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "models/ops/polynomial_attention.h"

namespace geosft {

// Returns for each head a bound on |scale q[i] . k[j]| over all pairs of an item, double [h]: the largest |q| times the
// largest |k| of the item, in O(Nq + Nk); 0 for a batch of no items. q [Nq, h, c], k [Nk, h, c], of one floating type,
// packed by q_ptr and k_ptr (int64 [B + 1], both or neither). Other shapes, types or ptr, and a scale that is not
// finite, are errors that name the argument. `center` as in polynomial_attention; it lowers the bound if keys have a
// mean.
at::Tensor polynomial_score_bound(const at::Tensor& q, const at::Tensor& k, double scale,
                                  const std::optional<at::Tensor>& q_ptr = std::nullopt,
                                  const std::optional<at::Tensor>& k_ptr = std::nullopt, bool center = false);

// Returns the largest relative error of the weights of polynomial attention compared with softmax if |scale q . k| <=
// bound, computed exactly: the maximum of |approximate / exact - 1| over all weights, both normalised. The result is
// then off by at most this times the largest |v|. Infinite if an odd degree can give a weight of zero.
double polynomial_truncation_error(double bound, int64_t degree);

// Returns the same bound for polynomial_attention as computed on tensors of `dtype` with heads of `channels`, including
// rounding (in float32 for half types). Sums over monomials cancel if scores are negative, so it is of order eps e^(2
// bound); it is infinite if rounding could exceed a normaliser. If it is finite, all normalisers are positive. Not
// included are the rounding of the result to a half type and, on a GPU, that of the plain sums of few queries over many
// keys.
double polynomial_error_bound(double bound, int64_t degree, int64_t channels, at::ScalarType dtype);

struct PolynomialDegreeOptions {
  double tolerance = 1e-2;                // maximum polynomial_error_bound
  int64_t max_monomials = kMaxMonomials;  // per head: time grows with it
  bool or_exact = false;                  // if no degree suffices, return `exact` instead of throwing
  at::ScalarType dtype = at::kFloat;      // of q, k and v
};

struct PolynomialDegree {
  bool exact = false;     // use exact attention: the polynomial would exceed max_monomials or the precision
  int64_t degree = 0;     // even
  int64_t monomials = 1;  // per head
  double bound = 0;       // the bound that the degree was chosen for
  double error = 0;       // polynomial_error_bound at this degree; 0 if `exact`
};

// Returns the smallest even degree for scores up to `bound` and heads of `channels`. Unless or_exact, it throws an
// error that says what would be needed if the degree takes more than max_monomials, or if rounding alone may exceed
// the tolerance. Throws NonFiniteError for a bound of NaN or infinity.
PolynomialDegree choose_polynomial_degree(double bound, int64_t channels, const PolynomialDegreeOptions& options = {});

}  // namespace geosft
