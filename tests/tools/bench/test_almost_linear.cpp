// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/almost_linear.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "models/ops/polynomial_degree.h"

namespace geosft::bench::test::test_almost_linear {
namespace {

const TimingOptions once{.repeats = 1, .seconds = 0};

AlmostLinearOptions small() {
  AlmostLinearOptions options;
  options.min_tokens = 64;
  options.max_tokens = 256;
  options.exact_tokens = 128;
  options.read_rows = 16;
  return options;
}

}  // namespace

TEST_CASE("every error of the result and its gradients is within the tolerance 1/n", "[bench]") {
  for (const double score : {0.25, 1.0}) {
    AlmostLinearOptions options = small();
    options.largest_score = score;
    std::vector<int64_t> seen;
    const auto points = measure_almost_linear(options, once, [&](int64_t n) { seen.push_back(n); });
    REQUIRE(points.size() == 3);
    CHECK(seen == std::vector<int64_t>{64, 128, 256});
    for (const AlmostLinearPoint& point : points) {
      INFO("score " << score << ", n " << point.tokens);
      const double n = static_cast<double>(point.tokens);
      CHECK(point.channels == std::llround(0.5 * std::log2(n)));
      CHECK(point.bound <= 1 / n);
      // The next smaller even degree is not enough.
      if (point.degree >= 2) {
        CHECK(polynomial_error_bound(score, point.degree - 2, point.channels, at::kDouble) > 1 / n);
      }
      CHECK(point.rows == (point.tokens <= 128 ? point.tokens : 16));
      CHECK(point.exact.has_value() == (point.tokens <= 128));
      CHECK(point.polynomial.minimum > 0);
      // The bound holds for attention weights. It passes to the result relative to the largest value, and to the
      // gradient of the weights with a factor of the degree, since the derivative has one degree less.
      const AlmostLinearErrors& e = point.errors;
      for (const double error : {e.out, e.x, e.w_v}) {
        CHECK(error > 0);
        CHECK(error < 4 / n);
      }
    }
  }
}

TEST_CASE("errors fall as the degree rises, and a seed gives the same numbers twice", "[bench]") {
  AlmostLinearOptions options = small();
  options.min_tokens = options.max_tokens = 128;
  const auto error_at = [&](double score) {
    options.largest_score = score;
    return measure_almost_linear(options, once, [](int64_t) {}).front();
  };
  CHECK(error_at(0.5).errors.w_q == error_at(0.5).errors.w_q);
  const AlmostLinearPoint low = error_at(0.01), high = error_at(4.0);
  CHECK(low.degree < high.degree);
  CHECK(low.monomials < high.monomials);
}

TEST_CASE("a degree with too many monomials is an error", "[bench]") {
  AlmostLinearOptions options = small();
  options.channels_per_log = 8;
  options.largest_score = 20;
  CHECK_THROWS_AS(measure_almost_linear(options, once, [](int64_t) {}), c10::Error);
}

}  // namespace geosft::bench::test::test_almost_linear
