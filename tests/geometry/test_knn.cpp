// SPDX-License-Identifier: Apache-2.0
#include "geometry/knn.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "tests/geometry/uniform_cloud.h"
#include "tests/support.h"

namespace geosft::test::test_knn {
using test::require_close;
using test::require_equal;
using test::require_error;

namespace {

struct Result {
  at::Tensor index, dist2;
};

Result run(const at::Tensor& points, const at::Tensor& queries, int64_t k, const std::optional<at::Tensor>& ptr = {},
           const std::optional<at::Tensor>& query_ptr = {}) {
  auto [index, dist2] = knn(points, queries, k, ptr, query_ptr);
  return {index, dist2};
}

// All distances of one item in the tensor's dtype, stably sorted: ties stay in the order of the rows.
Result slow_knn(const at::Tensor& points, const at::Tensor& queries, int64_t k) {
  const at::Tensor difference = queries.unsqueeze(1) - points.unsqueeze(0);
  const at::Tensor square = difference * difference;
  const at::Tensor dist2 = square.select(2, 0) + square.select(2, 1) + square.select(2, 2);
  auto [sorted, index] = dist2.sort(/*stable=*/true, /*dim=*/1, /*descending=*/false);
  const int64_t kept = std::min(k, points.size(0));
  return {at::constant_pad_nd(index.slice(1, 0, kept), {0, k - kept}, -1),
          at::constant_pad_nd(sorted.slice(1, 0, kept), {0, k - kept}, std::numeric_limits<double>::infinity())};
}

void require_same(const Result& actual, const Result& expected) {
  require_equal(actual.index, expected.index, "index");
  require_equal(actual.dist2, expected.dist2, "dist2");
}

}  // namespace

TEST_CASE("knn: fixtures, values and gradients") {
  const std::string name = GENERATE("duplicates", "empty_items", "grid_ties", "one_item", "self_ragged");
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const test::Fixture fixture("knn_" + name);
  const at::Tensor points = fixture.get("points", dtype).requires_grad_(true);
  const at::Tensor queries = fixture.get("queries", dtype).clone().requires_grad_(true);
  const Result result = run(points, queries, static_cast<int64_t>(fixture.number("k", 0)), fixture.optional("ptr"),
                            fixture.optional("query_ptr"));
  require_equal(result.index, fixture.get("out.index"), name);
  const at::Tensor expected = fixture.get("out.dist2");
  const at::Tensor missing = expected.isinf();
  require_equal(result.dist2.isinf(), missing, name);
  // Measured: 1.3e-16 and 1.2e-7 of squared distances, 6.9e-17 and 1.1e-7 of gradients.
  require_close(result.dist2.detach().masked_fill(missing, 0), expected.masked_fill(missing, 0),
                dtype == at::kDouble ? 1e-14 : 5e-6, name);
  result.dist2.backward(fixture.get("grad_out.dist2", dtype));
  const double tolerance = dtype == at::kDouble ? 1e-14 : 2e-5;
  require_close(points.grad(), fixture.get("grad.points"), tolerance, name + " points");
  require_close(queries.grad(), fixture.get("grad.queries"), tolerance, name + " queries");
}

TEST_CASE("knn: equals the slow reference bit by bit") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const int64_t k = GENERATE(1, 7, 64, 65, 400, 2000);
  const at::Tensor points = uniform(1000, dtype, 1), queries = uniform(60, dtype, 2) * 1.5;
  require_same(run(points, queries, k), slow_knn(points, queries, k));
}

TEST_CASE("knn: ties at the boundary go to the lowest row") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const int64_t k = GENERATE(3, 10, 100);
  const at::Tensor grid = (uniform(2000, dtype, 3) * 6).floor();
  const at::Tensor queries = (uniform(50, dtype, 4) * 12).floor() / 2;
  require_same(run(grid, queries, k), slow_knn(grid, queries, k));
  require_same(run(at::ones({500, 3}, dtype), queries, k), slow_knn(at::ones({500, 3}, dtype), queries, k));
}

TEST_CASE("knn: clouds far out, tiny, and along a line") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const double largest = dtype == at::kFloat ? 1e19 : 1e153, smallest = dtype == at::kFloat ? 1e-22 : 1e-160;
  const at::Tensor cloud = uniform(300, dtype, 5) - 0.5;
  at::Tensor line = cloud.clone();
  line.slice(1, 1, 3).zero_();
  for (const at::Tensor& points : {cloud * largest, cloud * smallest, cloud + 1e4, line}) {
    require_same(run(points, points, 9), slow_knn(points, points, 9));
  }
  require_same(run(cloud, cloud * largest, 9), slow_knn(cloud, cloud * largest, 9));
  require_error([&] { run(cloud, cloud * (10 * largest), 9); }, {"points and queries must be at most", "another unit"});
}

TEST_CASE("knn: items do not see each other, empty ones included") {
  const at::Tensor points = uniform(300, at::kFloat, 6), queries = uniform(9, at::kFloat, 7);
  const Result result =
      run(points, queries, 5, at::tensor({0, 0, 3, 300}, at::kLong), at::tensor({0, 2, 4, 9}, at::kLong));
  require_equal(result.index.slice(0, 0, 2), at::full({2, 5}, -1, at::kLong), "item without points");
  const Result second = slow_knn(points.slice(0, 0, 3), queries.slice(0, 2, 4), 5);
  require_equal(result.index.slice(0, 2, 4), second.index, "item of 3 points");
  const Result third = slow_knn(points.slice(0, 3, 300), queries.slice(0, 4, 9), 5);
  require_equal(result.index.slice(0, 4, 9), third.index + 3, "last item");
  REQUIRE(run(points, queries.slice(0, 0, 0), 5).index.sizes() == at::IntArrayRef({0, 5}));
}

TEST_CASE("knn: strided inputs and the number of threads change nothing") {
  const at::Tensor points = uniform(3000, at::kFloat, 8), queries = uniform(700, at::kFloat, 9);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Result one = run(points, queries, 12);
  at::set_num_threads(2);
  const Result two = run(points.t().contiguous().t(), queries.repeat({1, 2}).slice(1, 0, 3), 12);
  at::set_num_threads(threads);
  require_same(two, one);
}

TEST_CASE("knn: shapes without values") {
  const auto on_meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor meta = at::empty({7, 3}, on_meta), ptr = at::empty({3}, on_meta.dtype(at::kLong));
  for (const Result& result : {run(meta, meta, 4), run(meta, meta, 4, ptr, ptr)}) {
    REQUIRE(result.index.sizes() == at::IntArrayRef({7, 4}));
    REQUIRE(result.index.scalar_type() == at::kLong);
    REQUIRE(result.dist2.scalar_type() == at::kFloat);
  }
  require_error([&] { run(meta, meta, 0); }, {"k must be"});
  require_error([&] { run(meta, meta, 4, ptr); }, {"ptr and query_ptr", "both or neither"});
  require_error([&] { run(meta, meta, 4, ptr, ptr.slice(0, 0, 2)); }, {"query_ptr", "3 and 2"});
  require_error([&] { run(meta, meta, 4, ptr.to(at::kInt), ptr); }, {"ptr", "Int"});
  require_error([&] { run(meta, meta, 4, ptr, ptr.view({1, 3})); }, {"query_ptr", "one dimension"});
}

TEST_CASE("knn: bad arguments are refused by name") {
  const at::Tensor good = uniform(4, at::kFloat, 15);
  at::Tensor broken = good.clone();
  broken[2][1] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor ptr = at::tensor({0, 4}, at::kLong);
  require_error([&] { run(good.slice(1, 0, 2), good, 1); }, {"points", "[4, 2]"});
  require_error([&] { run(good, good[0], 1); }, {"queries", "[3]"});
  require_error([&] { run(good, good.to(at::kDouble), 1); }, {"points", "queries", "Double"});
  require_error([&] { run(good.to(at::kLong), good, 1); }, {"points", "Long"});
  require_error([&] { run(good, good, 0); }, {"k must be at least 1", "0"});
  require_error([&] { run(good, good, int64_t{1} << 62); }, {"k = ", "memory"});
  require_error([&] { run(broken, good, 1); }, {"points", "row 2"});
  require_error([&] { run(good, broken, 1); }, {"queries", "row 2"});
  require_error([&] { run(good, good, 1, ptr); }, {"ptr", "query_ptr", "both"});
  require_error([&] { run(good, good, 1, at::tensor({0, 3}, at::kLong), ptr); }, {"ptr", "4"});
  require_error([&] { run(good, good, 1, ptr, at::tensor({0, 3}, at::kLong)); }, {"query_ptr", "4"});
}

TEST_CASE("knn: 10 million points", "[slow]") {
  const at::Tensor points = uniform(10'000'000, at::kFloat, 16);
  const Result result = run(points, points.slice(0, 0, 1000), 3);
  require_equal(result.index.select(1, 0), at::arange(1000, at::kLong), "every point finds itself");
}

}  // namespace geosft::test::test_knn
