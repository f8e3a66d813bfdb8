// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_degree.h"

#include <cmath>

#include "geometry/operators.h"
#include "models/ops/non_finite_error.h"
#include "models/ops/polynomial_attention.h"
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_degree {
namespace {

// max |T_g(x) / e^x - 1| over a fine grid, in double precision, together with what normalising does to it.
double measured_error(double bound, int64_t degree) {
  const at::Tensor x = at::linspace(-bound, bound, 20001, at::kDouble);
  const at::Tensor ratio = taylor(x, degree) / x.exp();
  return (ratio.max() / ratio.min() - 1).item<double>();
}

// Rows whose scores are all near -score: one direction with a little of others, keys opposite to queries. `spread` is
// the share of their length by which they differ; 0: all are equal.
Arguments opposite_rows(int64_t tokens, int64_t c, double score, double spread, at::ScalarType dtype, uint64_t seed) {
  at::Generator random = generator(seed);
  const auto rows = [&](double sign) {
    at::Tensor x = at::zeros({tokens, 1, c}, at::kDouble);
    x.select(2, 0).fill_(1);
    x = x - spread * at::rand({tokens, 1, c}, random, at::kDouble);
    return (sign * std::sqrt(score) * x / x.norm(2, {2}, true).max()).to(dtype);
  };
  const at::Tensor q = rows(1), k = rows(-1), v = at::randn({tokens, 1, 3}, random, at::kDouble).to(dtype);
  return {{{"q", q}, {"k", k}, {"v", v}}};
}

struct Deviation {
  double error;       // of the result, over the largest |v|
  double min_weight;  // the smallest normaliser
};

Deviation deviation(const Arguments& a, const PolynomialNumbers& n) {
  static const auto op = find_operator<PolynomialOperator::Forward>("_polynomial_attention_forward");
  const auto [out, denominator] =
      op.call(a["q"], a["k"], a["v"], n.degree, n.scale, n.causal, std::nullopt, std::nullopt, n.center);
  Arguments wide = a;
  for (auto& [name, tensor] : wide.tensors) tensor = tensor.to(at::kDouble);
  const at::Tensor exact = slow_polynomial({-1, n.scale, n.causal})(wide);
  return {((out.to(at::kDouble) - exact).abs().max() / wide["v"].abs().max()).item<double>(),
          denominator.min().item<double>()};
}

// The smallest even degree at which only rounding is left.
int64_t ample_degree(double bound) {
  int64_t degree = 0;
  while (polynomial_truncation_error(bound, degree) > 1e-9) degree += 2;
  return degree;
}

}  // namespace

TEST_CASE("polynomial_truncation_error is the largest ratio of weights, and is reached", "[polynomial_degree]") {
  for (const double bound : {0.1, 0.5, 1.0, 2.0, 4.0}) {
    for (const int64_t degree : {2, 4, 6, 8}) {
      INFO("bound " << bound << " degree " << degree);
      const double error = polynomial_truncation_error(bound, degree);
      REQUIRE(error == Approx(measured_error(bound, degree)).epsilon(1e-6).margin(1e-14));
    }
  }
  REQUIRE(polynomial_truncation_error(0, 2) == 0);
  REQUIRE(polynomial_truncation_error(0.5, 3) ==
          Approx(1 / (taylor(at::tensor(-0.5, at::kDouble), 3).item<double>() * std::exp(0.5)) - 1));
  REQUIRE(std::isinf(polynomial_truncation_error(5, 3)));
  REQUIRE(polynomial_truncation_error(30, 200) < 1e-12);
}

TEST_CASE("polynomial_error_bound holds where scores cancel, in float32 and float64", "[polynomial_degree]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    int64_t useful = 0;  // bounds that promise something
    for (const int64_t c : {1, 2}) {
      for (const double score : {0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0}) {
        for (const double spread : {0.0, 0.02, 0.5}) {
          for (const bool causal : {false, true}) {
            const Arguments a = opposite_rows(600, c, score, spread, dtype, 30 + c);
            const double bound = polynomial_score_bound(a["q"], a["k"], 1).item<double>();
            const int64_t degree = ample_degree(bound);
            const double claimed = polynomial_error_bound(bound, degree, c, dtype);
            const Deviation found = deviation(a, {degree, 1.0, causal});
            INFO(dtype << " c " << c << " R " << bound << " spread " << spread << " degree " << degree << " claimed "
                       << claimed << " found " << found.error);
            REQUIRE(claimed > 0);
            REQUIRE((std::isinf(claimed) || (found.error <= claimed && found.min_weight > 0)));
            useful += claimed < 0.5;
          }
        }
      }
    }
    REQUIRE(useful >= (dtype == at::kFloat ? 40 : 80));
  }
}

TEST_CASE("rounding does not grow with the tokens that are summed", "[polynomial_degree]") {
  for (const double score : {1.0, 4.0}) {
    Arguments a = opposite_rows(50000, 1, score, 0, at::kFloat, 3);
    a.tensors["q"] = a["q"].slice(0, 0, 40).contiguous();
    const double bound = polynomial_score_bound(a["q"], a["k"], 1).item<double>();
    const int64_t degree = ample_degree(bound);
    const Deviation found = deviation(a, {degree, 1.0});
    const double sum = found.min_weight / 50000 * std::exp(bound);
    INFO("R " << bound << " degree " << degree << " found " << found.error << " sum of weights " << sum);
    REQUIRE(found.error <= polynomial_error_bound(bound, degree, 1, at::kFloat));
    REQUIRE(std::abs(sum - 1) <= polynomial_error_bound(bound, degree, 1, at::kFloat));
  }
}

TEST_CASE("a degree is chosen only where rounding allows it, and its error holds", "[polynomial_degree]") {
  int chosen_of_single = 0, chosen_of_twice = 0, chosen_of_centred = 0;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const int64_t c : {1, 2}) {
      for (const double score : {1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0}) {
        for (const bool center : {false, true}) {
          const Arguments a = opposite_rows(600, c, score, 0.02, dtype, 40 + c);
          const double bound = polynomial_score_bound(a["q"], a["k"], 1, {}, {}, center).item<double>();
          const PolynomialDegree chosen = choose_polynomial_degree(bound, c, {.or_exact = true, .dtype = dtype});
          if (chosen.exact) continue;
          ++(dtype == at::kDouble ? chosen_of_twice : chosen_of_single);
          chosen_of_centred += center && score >= 10;
          const Deviation found = deviation(a, {chosen.degree, 1.0, false, center});
          INFO(dtype << " c " << c << " R " << bound << (center ? " centred" : "") << " degree " << chosen.degree
                     << " claimed " << chosen.error << " found " << found.error);
          REQUIRE(chosen.error <= 1e-2);
          REQUIRE(found.error <= chosen.error);
          REQUIRE(found.min_weight > 0);
        }
      }
    }
  }
  CHECK(chosen_of_single >= 16);
  CHECK(chosen_of_twice >= 30);
  CHECK(chosen_of_centred >= 24);
}

TEST_CASE("rounding is counted in the type that is computed in, and is small where scores are", "[polynomial_degree]") {
  const auto rounding = [](double bound, int64_t degree, int64_t channels, at::ScalarType dtype) {
    return polynomial_error_bound(bound, degree, channels, dtype) - polynomial_truncation_error(bound, degree);
  };
  CHECK(rounding(1, 4, 8, at::kFloat) < 1e-4);
  CHECK(rounding(1, 4, 8, at::kFloat) > 1e-6);
  CHECK(rounding(1, 4, 8, at::kHalf) == rounding(1, 4, 8, at::kFloat));
  CHECK(rounding(1, 4, 8, at::kBFloat16) == rounding(1, 4, 8, at::kFloat));
  CHECK(rounding(1, 4, 8, at::kDouble) < 1e-12);
  CHECK(rounding(3, 40, 1, at::kFloat) > 30 * rounding(1, 40, 1, at::kFloat));
  CHECK(std::isinf(polynomial_error_bound(14, 60, 1, at::kFloat)));
  CHECK(polynomial_error_bound(10, 60, 1, at::kDouble) < 1e-4);
}

TEST_CASE("a tolerance that the type cannot reach is refused, or exact attention named", "[polynomial_degree]") {
  require_error([] { choose_polynomial_degree(12, 1, {.tolerance = 1e-2}); },
                {"tolerance 0.01", "scores up to 12", "float32", "rounding", "float64", "center", "smaller", "exact"});
  require_error([] { choose_polynomial_degree(1, 8, {.tolerance = 1e-7}); }, {"float32", "rounding"});
  require_error([] { choose_polynomial_degree(20, 1, {.dtype = at::kDouble}); }, {"float64", "rounding", "exact"});
  CHECK(choose_polynomial_degree(12, 1, {.or_exact = true}).exact);
  CHECK(choose_polynomial_degree(12, 1, {.tolerance = 1e-2, .dtype = at::kDouble}).degree > 30);
  CHECK(choose_polynomial_degree(1, 8, {.tolerance = 1e-7, .dtype = at::kDouble}).degree >= 8);
}

TEST_CASE("a bound that is not finite is the scores' error", "[polynomial_degree]") {
  for (const double bound : {std::nan(""), HUGE_VAL}) {
    REQUIRE_THROWS_AS(polynomial_error_bound(bound, 4, 8, at::kFloat), NonFiniteError);
    REQUIRE_THROWS_AS(choose_polynomial_degree(bound, 8), NonFiniteError);
  }
  require_error([] { polynomial_error_bound(std::nan(""), 4, 8, at::kFloat); }, {"scores of tokens", "nan"});
}

TEST_CASE("polynomial_score_bound holds for every pair, and falls with centring", "[polynomial_degree]") {
  const Arguments a = random_polynomial({{7, 0, 12}, {5, 4, 9}, 3, 4, 2}, 1);
  const at::Tensor keys = a["k"] + 3;
  for (const bool center : {false, true}) {
    const at::Tensor bound = polynomial_score_bound(a["q"], keys, -0.7, a["q_ptr"], a["k_ptr"], center);
    REQUIRE(bound.sizes() == at::IntArrayRef({3}));
    for (const auto& [q, k] : {std::pair(at::indexing::Slice(0, 7), at::indexing::Slice(0, 5)),
                               std::pair(at::indexing::Slice(7, 19), at::indexing::Slice(9, 18))}) {
      const at::Tensor item = keys.index({k}), centred = center ? item - item.mean(0, true) : item;
      const at::Tensor score = at::einsum("ihc,jhc->hij", {a["q"].index({q}), centred}).abs().amax({1, 2}) * 0.7;
      REQUIRE((score <= bound * (1 + 1e-12)).all().item<bool>());
    }
  }
  const auto bound = [&](bool center) {
    return polynomial_score_bound(a["q"], keys, 1, a["q_ptr"], a["k_ptr"], center).max().item<double>();
  };
  REQUIRE(bound(true) < 0.5 * bound(false));
}

TEST_CASE("choose_polynomial_degree returns the minimum even degree within its error bound", "[polynomial_degree]") {
  for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
    const Arguments a = random_polynomial({{60}, {60}, 1, 3, 3}, 2);
    const double bound = polynomial_score_bound(a["q"], a["k"], 1.5).item<double>();
    const PolynomialDegree chosen = choose_polynomial_degree(bound, 3, {.tolerance = tolerance, .dtype = at::kDouble});
    REQUIRE_FALSE(chosen.exact);
    REQUIRE(chosen.degree % 2 == 0);
    REQUIRE(chosen.error <= tolerance);
    REQUIRE(polynomial_error_bound(bound, chosen.degree - 2, 3, at::kDouble) > tolerance);
    const at::Tensor approximate = fused_polynomial({chosen.degree, 1.5})(a);
    const at::Tensor exact = slow_polynomial({-1, 1.5})(a);
    REQUIRE((approximate - exact).abs().max().item<double>() <= chosen.error * a["v"].abs().max().item<double>());
  }
  REQUIRE(choose_polynomial_degree(0, 8).degree == 0);
}

TEST_CASE("how far a tolerance of 0.01 reaches is what the README says", "[polynomial_degree]") {
  struct Case {
    at::ScalarType dtype;
    int64_t channels, max_monomials;
    double reach;  // a little less is chosen, a little more is refused
    int64_t degree;
  };
  for (const Case& one :
       {Case{at::kFloat, 1, 5000, 4.1, 20}, Case{at::kFloat, 4, 5000, 3.2, 14}, Case{at::kFloat, 8, 5000, 1.4, 6},
        Case{at::kFloat, 16, 5000, 0.8, 4}, Case{at::kFloat, 32, 5000, 0.3, 2}, Case{at::kFloat, 8, 100000, 2.3, 10},
        Case{at::kFloat, 16, 100000, 1.4, 6}, Case{at::kFloat, 32, 100000, 0.8, 4},
        Case{at::kDouble, 1, 5000, 14.0, 54}, Case{at::kDouble, 4, 5000, 4.3, 16}, Case{at::kDouble, 8, 5000, 1.4, 6},
        Case{at::kDouble, 16, 5000, 0.8, 4}, Case{at::kDouble, 4, 100000, 9.9, 36},
        Case{at::kDouble, 8, 100000, 2.5, 10}, Case{at::kDouble, 16, 100000, 1.4, 6}}) {
    INFO(one.dtype << " channels " << one.channels << " most " << one.max_monomials << " R " << one.reach);
    PolynomialDegreeOptions options{.max_monomials = one.max_monomials, .or_exact = true, .dtype = one.dtype};
    const PolynomialDegree chosen = choose_polynomial_degree(one.reach - 0.05, one.channels, options);
    CHECK_FALSE(chosen.exact);
    CHECK(chosen.degree <= one.degree);
    CHECK(choose_polynomial_degree(one.reach + 0.15, one.channels, options).exact);
    options.or_exact = false;
    require_error([&] { choose_polynomial_degree(one.reach + 0.15, one.channels, options); }, {"tolerance 0.01"});
  }
}

TEST_CASE("choose_polynomial_degree refuses a rank that is not sane", "[polynomial_degree]") {
  require_error([] { choose_polynomial_degree(1, 64); }, {"tolerance", "degree", "monomials", "exact attention"});
  const PolynomialDegree chosen = choose_polynomial_degree(1, 64, {.or_exact = true});
  REQUIRE(chosen.exact);
  require_error([] { choose_polynomial_degree(std::nan(""), 8); }, {"bound"});
  require_error([] { choose_polynomial_degree(1, 8, {.tolerance = 0}); }, {"tolerance"});
  require_error([] { choose_polynomial_degree(1, 0); }, {"channels"});
}

}  // namespace geosft::test::test_polynomial_degree
