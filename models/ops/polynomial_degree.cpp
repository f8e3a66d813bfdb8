// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_degree.h"

#include <ATen/OpMathType.h>

#include <cmath>
#include <limits>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/monomials.h"
#include "models/ops/non_finite_error.h"

namespace geosft {
namespace {

// Returns 1 - e^x T_g(-x) for odd g, and its negative for even g: the integral of e^u u^g / g! from 0 to x, for either
// sign of x up to the sign of the result. For x > 0 the series has no cancellation; for x < 0 it is e^x times the
// remainder.
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

// Returns 1 - e^-x T_g(x) for x >= 0.
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

// Bounds of e^-x T_g(x) over |x| <= bound: it falls from its value at -bound, which is above 1 for even degrees; for
// odd ones, where that is below 1, it rises to 1 and falls.
struct Ratio {
  double below, above, minimum;
};
Ratio weight_ratio(double bound, int64_t degree) {
  const double below = below_zero(bound, degree), above = above_zero(bound, degree);
  return {below, above, degree % 2 == 0 ? 1 - above : 1 - std::max(below, above)};
}

void check_bound(double bound, int64_t degree) {
  if (!std::isfinite(bound)) {
    throw NonFiniteError(c10::str("bound on the scores of tokens, |scale q . k|, must be finite, not ", bound));
  }
  TORCH_CHECK(bound >= 0, "bound must be at least 0, not ", bound);
  TORCH_CHECK(degree >= 0, "degree must be at least 0, not ", degree);
}

// Returns the rounding error, to be added to polynomial_truncation_error. Let u be the unit roundoff, x and y the
// scaled rows, R = bound, so |x| |y| <= R and sum_c |x_c y_c| <= R.
// * Through monomials a weight is sum_a x^a y^a / a!. Whatever their signs, the absolute values of its terms sum to at
//   most T_g(R), while the weight may be as small as e^-R `minimum`. In a term of degree t, on average at most R, about
//   2 t products are rounded; then it is added to those of other tokens (additions_in_a_row) and of all m monomials.
//   Each of these 2 R + additions + m roundings changes the sum by at most u T_g(R) per token. Treated as independent,
//   they are together bounded by twice the root of their number times u T_g(R), for the numerator (relative to the
//   largest |v|) and for the denominator. The latter is at least e^-R `minimum` per token; so with
//     rho = 2 sqrt(2 R + additions + m) u T_g(R) / (e^-R `minimum`)     (the fraction is e^2R for even degrees)
//   the result is off by at most 2 rho / (1 - rho), and the denominator is positive if rho < 1.
// * Pair by pair, Horner's rule has 2 R roundings of sums up to T_g(R) and no sum over monomials: less than that.
// * Rounding x, y and their product changes a score by at most (5 + c) R u, and so its weight and the sum of all by
//   that relative error; dividing takes 3 roundings. Nothing amplifies these.
double rounding_error(double bound, int64_t degree, int64_t channels, at::ScalarType dtype) {
  const bool twice = at::toOpMathType(dtype) == at::kDouble;
  const double unit = 0.5 * (twice ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon());
  const int64_t monomials = std::min(monomial_count(channels, degree), kMaxMonomials);
  const int64_t additions = monomials + additions_in_a_row(monomials, twice ? sizeof(double) : sizeof(float));
  const Ratio ratio = weight_ratio(bound, degree);
  const double amplified = std::exp(2 * bound) * (1 - ratio.above) / ratio.minimum;
  const double rho = 2 * std::sqrt(2 * bound + static_cast<double>(additions)) * unit * amplified;
  const double plain = (2 * static_cast<double>(5 + channels) * bound + 3) * unit;
  return rho < 1 ? 2 * rho / (1 - rho) + plain : std::numeric_limits<double>::infinity();
}

// Returns the error message that says why no degree is enough.
std::string error_message(const PolynomialDegree& chosen, int64_t channels, double rounding,
                          const PolynomialDegreeOptions& options) {
  const std::string asked = c10::str("tolerance ", options.tolerance, " for scores up to ", chosen.bound);
  if (rounding > options.tolerance) {
    const bool twice = at::toOpMathType(options.dtype) == at::kDouble;
    const std::string cost =
        std::isfinite(rounding) ? c10::str("may cost ", rounding, " at degree ", chosen.degree) : "may cost any error";
    return c10::str(asked, " is out of reach of ", twice ? "float64" : "float32", ", whose rounding alone ", cost,
                    twice ? ": " : ": compute in float64, ",
                    "center the keys, make scores smaller, allow a larger error, or use exact attention");
  }
  return c10::str(asked, " takes degree ", chosen.degree, " or more, with ", chosen.monomials, " monomials of ",
                  channels, " channels, more than max_monomials ", options.max_monomials,
                  ": allow a larger error, make heads narrower or scores smaller, or use exact attention");
}

// Returns maxima or means over the rows of each item: [B, ...].
at::Tensor by_item(const at::Tensor& rows, c10::string_view reduce, const at::Tensor& offsets) {
  const std::optional<at::Scalar> initial = reduce == "max" ? std::optional<at::Scalar>(0.0) : std::nullopt;
  return at::segment_reduce(rows, reduce, {}, {}, offsets, 0, /*unsafe=*/false, initial);
}

// Returns the largest |row| of each item and head, [B, h]; 0 for an item without rows.
at::Tensor largest_norms(const at::Tensor& rows, const std::vector<int64_t>& item_offsets, bool center) {
  const at::Tensor offsets = copy_to_device(at::tensor(item_offsets, at::kLong), rows.device());
  at::Tensor x = rows.detach().to(at::kDouble).contiguous();
  if (center) x = x - by_item(x, "mean", offsets).repeat_interleave(offsets.diff(), 0, x.size(0));
  return by_item(x.square().sum(-1).sqrt(), "max", offsets);
}

}  // namespace

at::Tensor polynomial_score_bound(const at::Tensor& q, const at::Tensor& k, double scale,
                                  const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr,
                                  bool center) {
  check_query_key_value(q, k, k);
  TORCH_CHECK(std::isfinite(scale), "scale must be finite, not ", scale);
  const OffsetPair offsets = packed_offset_pair(q_ptr, q.size(0), "q_ptr", k_ptr, k.size(0), "k_ptr", q.device());
  if (offsets.items() == 0) return at::zeros({q.size(1)}, q.options().dtype(at::kDouble).requires_grad(false));
  const at::Tensor queries = largest_norms(q, offsets.first, false), keys = largest_norms(k, offsets.second, center);
  return (queries * keys).amax(0) * std::abs(scale);
}

double polynomial_truncation_error(double bound, int64_t degree) {
  check_bound(bound, degree);
  const Ratio ratio = weight_ratio(bound, degree);
  const double spread = degree % 2 == 0 ? ratio.below + ratio.above : std::max(ratio.below, ratio.above);
  return ratio.minimum > 0 ? spread / ratio.minimum : std::numeric_limits<double>::infinity();
}

double polynomial_error_bound(double bound, int64_t degree, int64_t channels, at::ScalarType dtype) {
  const double truncation = polynomial_truncation_error(bound, degree);
  TORCH_CHECK(channels >= 1, "channels must be at least 1, not ", channels);
  TORCH_CHECK(at::isFloatingType(dtype), "dtype must be a floating type, not ", dtype);
  return std::isinf(truncation) ? truncation : truncation + rounding_error(bound, degree, channels, dtype);
}

PolynomialDegree choose_polynomial_degree(double bound, int64_t channels, const PolynomialDegreeOptions& options) {
  TORCH_CHECK(options.tolerance > 0, "tolerance must be positive, not ", options.tolerance);
  PolynomialDegree chosen{false, 0, 1, bound, polynomial_error_bound(bound, 0, channels, options.dtype)};
  // Rounding grows with the degree: once it is too large, no higher degree helps.
  double rounding = rounding_error(bound, 0, channels, options.dtype);
  while (chosen.error > options.tolerance && chosen.monomials <= options.max_monomials &&
         rounding <= options.tolerance) {
    chosen.degree += 2;
    chosen.monomials = monomial_count(channels, chosen.degree);
    chosen.error = polynomial_error_bound(bound, chosen.degree, channels, options.dtype);
    rounding = rounding_error(bound, chosen.degree, channels, options.dtype);
  }
  if (chosen.error <= options.tolerance && chosen.monomials <= options.max_monomials) return chosen;
  TORCH_CHECK(options.or_exact, error_message(chosen, channels, rounding, options));
  return {true, 0, 0, bound, 0};
}

// For layers in Python.
namespace {

// Returns the degree that the options choose for the scores of q and k, or -1 for exact attention.
int64_t degree_for_scores(const at::Tensor& q, const at::Tensor& k, double scale,
                          const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr, bool center,
                          double tolerance, int64_t max_monomials, bool or_exact) {
  const double bound = polynomial_score_bound(q, k, scale, q_ptr, k_ptr, center).max().item<double>();
  const PolynomialDegree chosen =
      choose_polynomial_degree(bound, q.size(2), {tolerance, max_monomials, or_exact, q.scalar_type()});
  return chosen.exact ? -1 : chosen.degree;
}

GEOSFT_OPERATORS(m) {
  m.def(
      "_polynomial_degree(Tensor q, Tensor k, float scale, Tensor? q_ptr, Tensor? k_ptr, bool center, float tolerance, "
      "int max_monomials, bool or_exact) -> int");
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("_polynomial_degree", degree_for_scores);
}

}  // namespace
}  // namespace geosft
