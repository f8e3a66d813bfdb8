// SPDX-License-Identifier: Apache-2.0
// Which degree of polynomial_attention an accuracy takes, from the numbers at hand. The polynomial is that of
// "Multi-Layer Transformers Gradient Can be Approximated in Almost Linear Time", which bounds its error asymptotically;
// here the error is computed, and rounding counted: a derivation of our own, beside rounding_error in the .cpp.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "models/ops/polynomial_attention.h"

namespace geosft {

// For each head a bound on |scale q[i] . k[j]| over all pairs of an item, double [h]: the largest |q| times the largest
// |k| of the item, in O(Nq + Nk). q [Nq, h, c], k [Nk, h, c], of one floating type, packed by q_ptr and k_ptr (int64
// [B + 1], both or neither). Other shapes, types or ptr, and a scale that is not finite: an error naming the argument.
// `center` as in polynomial_attention; it lowers the bound where keys have a mean.
at::Tensor polynomial_score_bound(const at::Tensor& q, const at::Tensor& k, double scale,
                                  const std::optional<at::Tensor>& q_ptr = std::nullopt,
                                  const std::optional<at::Tensor>& k_ptr = std::nullopt, bool center = false);

// How far the weights of polynomial attention are from softmax where |scale q . k| <= bound, computed exactly: the
// largest of |approximate / exact - 1| over all weights, both normalised. The result is then off by at most this times
// the largest |v|. Infinite where an odd degree can reach a weight of zero.
double polynomial_truncation_error(double bound, int64_t degree);

// The same for polynomial_attention as it is computed on tensors of `dtype` with heads of `channels`: rounding counts,
// in float32 for half types. Sums over monomials cancel where scores are negative, so it is of order eps e^(2 bound);
// infinite where it could swallow a normaliser. Where it is finite all normalisers are positive. Not counted are the
// rounding of the result to a half type and, on a GPU, that of the plain sums of few queries over many keys.
double polynomial_error_bound(double bound, int64_t degree, int64_t channels, at::ScalarType dtype);

struct PolynomialDegreeOptions {
  double tolerance = 1e-2;                 // of polynomial_error_bound
  int64_t most_monomials = kMaxMonomials;  // of one head: time grows with it
  bool or_exact = false;                   // where that is not enough, say so instead of throwing an error
  at::ScalarType dtype = at::kFloat;       // of q, k and v
};

struct PolynomialDegree {
  bool exact = false;     // use exact attention: the polynomial would take more than most_monomials, or precision
  int64_t degree = 0;     // even
  int64_t monomials = 1;  // of one head
  double bound = 0;       // what the degree was chosen for
  double error = 0;       // polynomial_error_bound of both; 0 with `exact`
};

// The least even degree for scores up to `bound` and heads of `channels`. An error that says what would be needed where
// it takes more than most_monomials, or where rounding alone may exceed the tolerance, unless or_exact. NonFiniteError
// for a bound of NaN or infinity.
PolynomialDegree choose_polynomial_degree(double bound, int64_t channels, const PolynomialDegreeOptions& options = {});

}  // namespace geosft
