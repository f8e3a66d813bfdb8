// SPDX-License-Identifier: Apache-2.0
#include "models/ops/monomials.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "tests/support.h"

namespace geosft::test::test_monomials {
namespace {

// Every product of `degree` of these numbers in every order: the tensor power, flattened.
std::vector<double> tensor_power(const std::vector<double>& x, int64_t degree) {
  std::vector<double> power{1};
  for (int64_t t = 0; t < degree; ++t) {
    std::vector<double> next;
    for (const double p : power) {
      for (const double factor : x) next.push_back(p * factor);
    }
    power = next;
  }
  return power;
}

}  // namespace

TEST_CASE("monomial_count is the binomial, and stops where it no longer fits", "[monomials]") {
  REQUIRE(monomial_count(8, 2) == 45);
  REQUIRE(monomial_count(8, 4) == 495);
  REQUIRE(monomial_count(16, 6) == 74613);
  REQUIRE(monomial_count(1, 7) == 8);
  REQUIRE(monomial_count(5, 0) == 1);
  REQUIRE(monomial_count(1000, 1000) == std::numeric_limits<int64_t>::max());
}

// With primes for channels a monomial is known by its value.
TEST_CASE("monomials are the tensor powers, each product once with its multiplicity", "[monomials]") {
  const std::vector<double> primes{2, 3, 5, 7};
  const MonomialBasis basis(4, 5);
  const at::Tensor values = monomials(at::tensor(primes, at::kDouble).unsqueeze(0), basis)[0];
  std::map<double, double> weights;
  for (int64_t a = 0; a < basis.size(); ++a) weights[values[a].item<double>()] = basis.weights[a];
  REQUIRE(weights.size() == static_cast<size_t>(monomial_count(4, 5)));
  REQUIRE(basis.size() == monomial_count(4, 5));
  for (int64_t degree = 0; degree <= 5; ++degree) {
    std::map<double, double> times;
    for (const double product : tensor_power(primes, degree)) ++times[product];
    for (const auto& [product, count] : times) {
      REQUIRE(weights.count(product) == 1);
      REQUIRE(weights[product] * std::tgamma(static_cast<double>(degree) + 1) == Approx(count).epsilon(1e-14));
    }
  }
}

TEST_CASE("weighed monomials multiply to the polynomial of the scalar product", "[monomials]") {
  // Measured over 1,000 seeds, at most: 5.3e-14 where 1e-13 is allowed.
  for (const int64_t channels : {1, 2, 5}) {
    for (int64_t degree = 0; degree <= 6; ++degree) {
      const MonomialBasis basis(channels, degree);
      const at::Tensor x = at::randn({4, channels}, generator(1), at::kDouble);
      const at::Tensor y = at::randn({3, channels}, generator(2), at::kDouble);
      const at::Tensor weights = at::tensor(basis.weights, at::kDouble);
      const at::Tensor score = at::matmul(x, y.t());
      at::Tensor sum = at::ones_like(score), term = at::ones_like(score);
      for (int64_t t = 1; t <= degree; ++t) sum = sum + (term = term * score / static_cast<double>(t));
      require_close(at::matmul(monomials(x, basis) * weights, monomials(y, basis).t()), sum, 1e-13, "product");
    }
  }
}

TEST_CASE("runs lead from every degree to the next", "[monomials]") {
  const MonomialBasis basis(3, 4);
  int64_t next = 1;
  for (const MonomialRun& run : basis.runs) {
    REQUIRE(run.to == next);
    REQUIRE(run.from + run.count <= run.to);
    next += run.count;
  }
  REQUIRE(next == basis.size());
  REQUIRE(basis.parents() == monomial_count(3, 3));
}

TEST_CASE("monomials name the argument that is wrong", "[monomials]") {
  require_error([] { monomial_count(-1, 3); }, {"channels", "-1"});
  require_error([] { MonomialBasis(0, 2); }, {"channels", "0"});
  require_error([] { MonomialBasis(2, -1); }, {"degree", "-1"});
  require_error([] { monomials(at::zeros({3, 2}), MonomialBasis(3, 1)); }, {"x", "[3, 2]"});
}

}  // namespace geosft::test::test_monomials
