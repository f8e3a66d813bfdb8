// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_degree.h"

#include <cmath>

#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_degree {
namespace {

// max |T_g(x) / e^x - 1| over a fine grid, in double precision, together with what normalising does to it.
double measured_error(double bound, int64_t degree) {
  const at::Tensor x = at::linspace(-bound, bound, 20001, at::kDouble);
  const at::Tensor ratio = taylor(x, degree) / x.exp();
  return (ratio.max() / ratio.min() - 1).item<double>();
}

}  // namespace

TEST_CASE("polynomial_error_bound is the largest ratio of weights, and is reached", "[polynomial_degree]") {
  for (const double bound : {0.1, 0.5, 1.0, 2.0, 4.0}) {
    for (const int64_t degree : {2, 4, 6, 8}) {
      INFO("bound " << bound << " degree " << degree);
      const double error = polynomial_error_bound(bound, degree);
      REQUIRE(error == Approx(measured_error(bound, degree)).epsilon(1e-6).margin(1e-14));
    }
  }
  REQUIRE(polynomial_error_bound(0, 2) == 0);
  REQUIRE(polynomial_error_bound(0.5, 3) ==
          Approx(1 / (taylor(at::tensor(-0.5, at::kDouble), 3).item<double>() * std::exp(0.5)) - 1));
  REQUIRE(std::isinf(polynomial_error_bound(5, 3)));
  REQUIRE(polynomial_error_bound(30, 200) < 1e-12);
}

TEST_CASE("polynomial_score_bound holds for every pair, and falls with centring", "[polynomial_degree]") {
  const Arguments a = random_polynomial({{7, 0, 12}, {5, 4, 9}, 3, 4, 2}, 1);
  const at::Tensor keys = a["k"] + 3;
  for (const bool center : {false, true}) {
    const at::Tensor bound = polynomial_score_bound(a["q"], keys, -0.7, a["q_ptr"], a["k_ptr"], center);
    REQUIRE(bound.sizes() == at::IntArrayRef({3}));
    for (const auto& [q, k] : {std::pair(at::indexing::Slice(0, 7), at::indexing::Slice(0, 5)),
                               std::pair(at::indexing::Slice(7, 19), at::indexing::Slice(9, 18))}) {
      const at::Tensor item = keys.index({k}), own = center ? item - item.mean(0, true) : item;
      const at::Tensor score = at::einsum("ihc,jhc->hij", {a["q"].index({q}), own}).abs().amax({1, 2}) * 0.7;
      REQUIRE((score <= bound * (1 + 1e-12)).all().item<bool>());
    }
  }
  const auto bound = [&](bool center) {
    return polynomial_score_bound(a["q"], keys, 1, a["q_ptr"], a["k_ptr"], center).max().item<double>();
  };
  REQUIRE(bound(true) < 0.5 * bound(false));
}

TEST_CASE("choose_polynomial_degree takes the least even degree, and its error holds", "[polynomial_degree]") {
  for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
    const Arguments a = random_polynomial({{60}, {60}, 1, 3, 3}, 2);
    const double bound = polynomial_score_bound(a["q"], a["k"], 1.5).item<double>();
    const PolynomialDegree chosen = choose_polynomial_degree(bound, 3, {.tolerance = tolerance});
    REQUIRE_FALSE(chosen.exact);
    REQUIRE(chosen.degree % 2 == 0);
    REQUIRE(chosen.error <= tolerance);
    REQUIRE(polynomial_error_bound(bound, chosen.degree - 2) > tolerance);
    const at::Tensor approximate = fused_polynomial({chosen.degree, 1.5})(a);
    const at::Tensor exact = slow_polynomial({-1, 1.5})(a);
    REQUIRE((approximate - exact).abs().max().item<double>() <= chosen.error * a["v"].abs().max().item<double>());
  }
  REQUIRE(choose_polynomial_degree(0, 8).degree == 0);
}

TEST_CASE("choose_polynomial_degree refuses a rank that is not sane", "[polynomial_degree]") {
  require_error([] { choose_polynomial_degree(20, 64); }, {"tolerance", "degree", "monomials", "exact attention"});
  const PolynomialDegree chosen = choose_polynomial_degree(20, 64, {.or_exact = true});
  REQUIRE(chosen.exact);
  require_error([] { choose_polynomial_degree(std::nan(""), 8); }, {"bound"});
  require_error([] { choose_polynomial_degree(1, 8, {.tolerance = 0}); }, {"tolerance"});
  require_error([] { choose_polynomial_degree(1, 0); }, {"channels"});
}

}  // namespace geosft::test::test_polynomial_degree
