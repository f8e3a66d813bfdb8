// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_degree.h"

#include <cmath>
#include <limits>

#include "geometry/packed.h"
#include "models/ops/attention_checks.h"
#include "models/ops/monomials.h"

namespace geosft {
namespace {

// 1 - e^x T_g(-x) for odd g, its negative for even g: the integral of e^u u^g / g! from 0 to x, for either sign of x up
// to the sign of the result. A series without cancellation for x > 0; for x < 0 it is e^x times the remainder.
double below_zero(double x, int64_t g) {
  double power = 1, sum = 0;  // x^(g+k) / (g! k!)
  for (int64_t t = 1; t <= g; ++t) power *= x / static_cast<double>(t);
  for (int64_t k = 0; power > 0 && std::isfinite(sum); ++k) {
    const double term = power * x / static_cast<double>(g + 1 + k);
    sum += term;
    if (static_cast<double>(k) > x && term < 1e-17 * sum) break;
    power *= x / static_cast<double>(k + 1);
  }
  return sum;
}

// 1 - e^-x T_g(x) for x >= 0.
double above_zero(double x, int64_t g) {
  double term = std::exp(-x), sum = 0;  // e^-x x^t / t!
  for (int64_t t = 1; t <= g; ++t) term *= x / static_cast<double>(t);
  for (int64_t t = g + 1; term > 0; ++t) {
    term *= x / static_cast<double>(t);
    sum += term;
    if (static_cast<double>(t) > x && term < 1e-17 * sum) break;
  }
  return std::min(sum, 1.0);
}

at::Tensor largest_norms(const at::Tensor& rows) {
  return std::get<0>(rows.square().sum(-1).sqrt().max(0));
}

}  // namespace

at::Tensor polynomial_score_bound(const at::Tensor& q, const at::Tensor& k, double scale,
                                  const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr,
                                  bool center) {
  check_query_key_value(q, k, k);
  TORCH_CHECK(std::isfinite(scale), "scale must be finite, not ", scale);
  const OffsetPair offsets = packed_offset_pair(q_ptr, q.size(0), "q_ptr", k_ptr, k.size(0), "k_ptr");
  at::Tensor bound = at::zeros({q.size(1)}, q.options().dtype(at::kDouble));
  for (int64_t b = 0; b < offsets.items(); ++b) {
    if (offsets.first[b] == offsets.first[b + 1] || offsets.second[b] == offsets.second[b + 1]) continue;
    const at::Tensor queries = q.detach().slice(0, offsets.first[b], offsets.first[b + 1]).to(at::kDouble);
    at::Tensor keys = k.detach().slice(0, offsets.second[b], offsets.second[b + 1]).to(at::kDouble);
    if (center) keys = keys - keys.mean(0, true);
    bound = at::maximum(bound, largest_norms(queries) * largest_norms(keys) * std::abs(scale));
  }
  return bound;
}

double polynomial_error_bound(double bound, int64_t degree) {
  TORCH_CHECK(std::isfinite(bound) && bound >= 0, "bound must be finite and at least 0, not ", bound);
  TORCH_CHECK(degree >= 0, "degree must be at least 0, not ", degree);
  // e^-x T_g(x) falls from its value at -bound, above 1 for even degrees and below for odd ones, or rises to 1 and
  // falls.
  const double below = below_zero(bound, degree), above = above_zero(bound, degree);
  const double least = degree % 2 == 0 ? 1 - above : 1 - std::max(below, above);
  const double spread = degree % 2 == 0 ? below + above : std::max(below, above);
  return least > 0 ? spread / least : std::numeric_limits<double>::infinity();
}

PolynomialDegree choose_polynomial_degree(double bound, int64_t channels, const PolynomialDegreeOptions& options) {
  TORCH_CHECK(options.tolerance > 0, "tolerance must be positive, not ", options.tolerance);
  TORCH_CHECK(channels >= 1, "channels must be at least 1, not ", channels);
  PolynomialDegree chosen{false, 0, 1, bound, polynomial_error_bound(bound, 0)};
  while (chosen.error > options.tolerance && chosen.monomials <= options.most_monomials) {
    chosen.degree += 2;
    chosen.monomials = monomial_count(channels, chosen.degree);
    chosen.error = polynomial_error_bound(bound, chosen.degree);
  }
  if (chosen.monomials <= options.most_monomials) return chosen;
  TORCH_CHECK(options.or_exact, "tolerance ", options.tolerance, " for scores up to ", bound, " takes degree ",
              chosen.degree, " or more, with ", chosen.monomials, " monomials of ", channels,
              " channels, more than most_monomials ", options.most_monomials,
              ": allow a larger error, make heads narrower or scores smaller, or use exact attention");
  return {true, 0, 0, bound, 0};
}

}  // namespace geosft
