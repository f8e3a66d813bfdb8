// SPDX-License-Identifier: Apache-2.0
#include "geometry/radius_search.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/geometry/uniform_cloud.h"
#include "tests/support.h"

namespace geosft::test::test_radius_search {
using test::require_equal;
using test::require_error;

namespace {

// Every pair of one item, compared and sorted by ATen.
RadiusNeighbours slow_search(const at::Tensor& points, const at::Tensor& queries, const at::Scalar& radius) {
  const at::Tensor square = (queries.unsqueeze(1) - points.unsqueeze(0)).square();
  const at::Tensor dist2 = square.select(2, 0) + square.select(2, 1) + square.select(2, 2);
  const at::Tensor limit = at::full({}, radius, points.options());
  auto [sorted, order] = dist2.sort(/*stable=*/true, /*dim=*/1, /*descending=*/false);
  const at::Tensor inside = sorted <= limit * limit;
  return {at::constant_pad_nd(inside.sum(1).cumsum(0), {1, 0}, 0), order.masked_select(inside),
          sorted.masked_select(inside)};
}

void require_same(const RadiusNeighbours& actual, const RadiusNeighbours& expected) {
  require_equal(actual.rowptr, expected.rowptr, "rowptr");
  require_equal(actual.col, expected.col, "col");
  require_equal(actual.dist2, expected.dist2, "dist2");
}

}  // namespace

TEST_CASE("radius search: equals the slow reference bit by bit") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const double radius = GENERATE(0.0, 0.1, 0.3, 5.0);
  const at::Tensor points = uniform(900, dtype, 1), queries = at::cat({uniform(400, dtype, 2), points.slice(0, 0, 9)});
  require_same(radius_search(points, queries, radius), slow_search(points, queries, radius));
}

TEST_CASE("radius search: points at exactly the radius belong to it, ties in the order of rows") {
  const at::Tensor grid = (uniform(1500, at::kFloat, 3) * 8).floor();
  for (const double radius : {1.0, 2.0, 3.0}) {
    require_same(radius_search(grid, grid, radius), slow_search(grid, grid, radius));
  }
}

TEST_CASE("radius search: items do not see each other, strides and threads change nothing") {
  const at::Tensor points = uniform(80, at::kFloat, 4);
  const at::Tensor ptr = at::tensor({0, 0, 30, 80}, at::kLong), query_ptr = at::tensor({0, 5, 20, 80}, at::kLong);
  const RadiusNeighbours result = radius_search(points, points, 0.4, ptr, query_ptr);
  REQUIRE(result.rowptr[5].item<int64_t>() == 0);
  const RadiusNeighbours second = slow_search(points.slice(0, 0, 30), points.slice(0, 5, 20), 0.4);
  const RadiusNeighbours third = slow_search(points.slice(0, 30, 80), points.slice(0, 20, 80), 0.4);
  require_equal(result.col, at::cat({second.col, third.col + 30}), "col");
  const int threads = at::get_num_threads();
  at::set_num_threads(threads == 1 ? 2 : 1);
  const RadiusNeighbours other = radius_search(points.t().contiguous().t(), points, 0.4, ptr, query_ptr);
  at::set_num_threads(threads);
  require_same(other, result);
}

TEST_CASE("radius search: bad arguments are refused by name") {
  const at::Tensor good = uniform(4, at::kFloat, 5);
  const at::Tensor broken = at::full({4, 3}, std::numeric_limits<float>::infinity());
  require_error([&] { radius_search(good[0], good, 1); }, {"points"});
  require_error([&] { radius_search(good, good[0], 1); }, {"queries"});
  require_error([&] { radius_search(good, good.to(at::kDouble), 1); }, {"points", "queries"});
  require_error([&] { radius_search(good, good, -1); }, {"radius", "-1"});
  require_error([&] { radius_search(good, good, std::nan("")); }, {"radius", "nan"});
  require_error([&] { radius_search(broken, good, 1); }, {"points", "finite"});
  require_error([&] { radius_search(good, broken, 1); }, {"queries", "finite"});
  require_error([&] { radius_search(good, good * 1e30, 1); }, {"points and queries must be at most", "another unit"});
  require_error([&] { radius_search(good, good, 1, at::tensor({0, 4}, at::kLong)); }, {"ptr", "query_ptr"});
}

}  // namespace geosft::test::test_radius_search
