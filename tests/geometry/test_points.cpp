// SPDX-License-Identifier: Apache-2.0
#include "geometry/points.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_points {
using test::require_error;

TEST_CASE("points of both dtypes pass, other tensors are refused by name") {
  check_points(at::zeros({0, 3}), "points");
  check_points(at::zeros({2, 3}, at::kDouble), "points");
  require_error([] { check_points(at::Tensor(), "points"); }, {"points", "none"});
  require_error([] { check_points(at::zeros({3}), "points"); }, {"points", "[N, 3]", "[3]"});
  require_error([] { check_points(at::zeros({2, 4}), "points"); }, {"points", "[N, 3]", "[2, 4]"});
  require_error([] { check_points(at::zeros({2, 3}, at::kLong), "queries"); }, {"queries", "float32", "Long"});
}

TEST_CASE("two dtypes are refused with both names") {
  check_same_kind(at::zeros({1}), "a", at::zeros({2}), "b");
  require_error([] { check_same_kind(at::zeros({1}), "points", at::zeros({1}, at::kDouble), "queries"); },
                {"points", "queries", "Float", "Double"});
}

TEST_CASE("NaN and infinity are refused with their row") {
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity());
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const double largest = dtype == at::kFloat ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  at::Tensor points = at::full({9, 3}, largest, dtype);
  check_finite(points, "points");
  points[7][2] = bad;
  require_error([&] { check_finite(points, "points"); }, {"points", "finite", "row 7"});
}

}  // namespace geosft::test::test_points
