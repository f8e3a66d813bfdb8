// SPDX-License-Identifier: Apache-2.0
#include "geometry/points.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

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

TEST_CASE("points whose squared distances overflow are refused with their item") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const double largest = dtype == at::kFloat ? std::sqrt(double{std::numeric_limits<float>::max()})
                                             : std::sqrt(std::numeric_limits<double>::max());
  const at::Tensor cube = at::cat({at::zeros({1, 3}, dtype), at::ones({1, 3}, dtype)}) / std::sqrt(3.0);
  const std::vector<int64_t> two_items = {0, 2, 4}, one_item = {0, 4}, with_empty = {0, 0, 2}, second = {0, 2, 2};
  const auto check = [&](const at::Tensor& points, const std::vector<int64_t>& offsets) {
    check_squared_distances({{points, offsets, "points"}});
  };
  const at::Tensor wide = at::cat({cube, cube * (0.999 * largest)});
  check(wide, two_items);
  require_error(
      [&] {
        check(at::cat({cube, cube * (1.001 * largest)}), two_items);
      },
      {"points must be at most", dtype == at::kFloat ? "1.84467e+19 apart, so that float32" : "e+154 apart", "item 1",
       "another unit"});
  // Items may be far from each other, but not the points of one.
  const at::Tensor apart = at::cat({cube, cube + 1e2 * largest});
  check(apart, two_items);
  require_error([&] { check(apart, one_item); }, {"points", "item 0"});
  const at::Tensor near = cube, far = cube + 1e2 * largest;
  check_squared_distances({{near, with_empty, "points"}, {far, second, "queries"}});
  require_error(
      [&] {
        check_squared_distances({{near, second, "points"}, {far, second, "queries"}});
      },
      {"points and queries must be", "item 0"});
}

}  // namespace geosft::test::test_points
