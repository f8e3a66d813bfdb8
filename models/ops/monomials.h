// SPDX-License-Identifier: Apache-2.0
// The symmetric monomial basis in which a polynomial of a scalar product factorises: with multi-indices a of at most g,
//   sum_{t <= g} (x . y)^t / t! = sum_{|a| <= g} x^a y^a / a!
// and each monomial is there once, where a tensor power would hold it in every order of its factors.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// binomial(channels + degree, degree), the monomials of `channels` variables of degree at most `degree`; the largest
// int64 where it does not fit.
int64_t monomial_count(int64_t channels, int64_t degree);

// Monomials [to, to + count) are x[channel] times monomials [from, from + count), one after the other.
struct MonomialRun {
  int64_t to, from, count, channel;
};

// Monomials in the order of their degree, 1 first. Those of one degree are ordered by the least of their variables, so
// that each variable's are that variable times a stretch of the degree below: a run.
struct MonomialBasis {
  MonomialBasis(int64_t channels, int64_t degree);

  int64_t size() const { return static_cast<int64_t>(weights.size()); }
  // Monomials that others are made from: all but those of the highest degree.
  int64_t parents() const { return size() - highest; }

  int64_t channels, degree;
  int64_t highest = 0;            // monomials of the highest degree
  std::vector<MonomialRun> runs;  // `channels` of them for each degree from 1 on
  std::vector<double> weights;    // 1 / a!
};

// All monomials of the rows of x [n, channels], one after the other: [n, basis.size()].
at::Tensor monomials(const at::Tensor& x, const MonomialBasis& basis);

}  // namespace geosft
