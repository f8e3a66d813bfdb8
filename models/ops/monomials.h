// SPDX-License-Identifier: Apache-2.0
// Defines the symmetric monomial basis in which a polynomial of a scalar product factorises: with multi-indices a of
// degree at most g,
//   sum_{t <= g} (x . y)^t / t! = sum_{|a| <= g} x^a y^a / a!
// Each monomial occurs once, whereas a tensor power would contain it in every order of its factors.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// Returns binomial(channels + degree, degree), the number of monomials of `channels` variables of degree at most
// `degree`, or the largest int64 if that does not fit.
int64_t monomial_count(int64_t channels, int64_t degree);

// Monomials [to, to + count) are x[channel] times monomials [from, from + count), one after the other.
struct MonomialRun {
  int64_t to, from, count, channel;
};

// Monomials are ordered by degree, 1 first. Those of one degree are ordered by the smallest of their variables, so that
// each variable's are that variable times a contiguous range of the degree below: a run.
struct MonomialBasis {
  MonomialBasis(int64_t channels, int64_t degree);

  int64_t size() const { return static_cast<int64_t>(weights.size()); }
  // Returns the number of monomials that others are computed from: all but those of the highest degree.
  int64_t parents() const { return size() - highest; }

  int64_t channels, degree;
  int64_t highest = 0;            // number of monomials of the highest degree
  std::vector<MonomialRun> runs;  // `channels` runs for each degree from 1 on
  std::vector<double> weights;    // 1 / a!
};

// Returns all monomials of the rows of x [n, channels], in order: [n, basis.size()].
at::Tensor monomials(const at::Tensor& x, const MonomialBasis& basis);

}  // namespace geosft
