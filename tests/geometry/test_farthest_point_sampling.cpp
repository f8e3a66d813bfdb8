// SPDX-License-Identifier: Apache-2.0
#include "geometry/farthest_point_sampling.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "geometry/rotation.h"
#include "tests/geometry/uniform_cloud.h"
#include "tests/support.h"

namespace geosft::test::test_farthest_point_sampling {
using test::require_equal;
using test::require_error;

namespace {

// The plain loop over one item.
template <typename scalar_t>
std::vector<int64_t> plain_loop(const scalar_t* p, int64_t count, int64_t m, int64_t start) {
  std::vector<scalar_t> nearest(count, std::numeric_limits<scalar_t>::infinity());
  std::vector<bool> chosen(count, false);
  std::vector<int64_t> rows;
  for (int64_t row = start; static_cast<int64_t>(rows.size()) < std::min(m, count);) {
    rows.push_back(row);
    chosen[row] = true;
    int64_t next = -1;
    for (int64_t i = 0; i < count; ++i) {
      const scalar_t dx = p[3 * i] - p[3 * row], dy = p[3 * i + 1] - p[3 * row + 1], dz = p[3 * i + 2] - p[3 * row + 2];
      nearest[i] = std::min(nearest[i], dx * dx + dy * dy + dz * dz);
      if (!chosen[i] && (next < 0 || nearest[i] > nearest[next])) next = i;
    }
    row = next;
  }
  return rows;
}

at::Tensor slow_sampling(const at::Tensor& points, int64_t m, int64_t start) {
  const at::Tensor contiguous = points.contiguous();
  return AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "slow_sampling", [&] {
    return at::tensor(plain_loop(contiguous.const_data_ptr<scalar_t>(), points.size(0), m, start), at::kLong);
  });
}

}  // namespace

TEST_CASE("farthest point sampling: fixtures") {
  const std::string name = GENERATE("duplicates", "grid", "m_ge_n", "ragged", "random");
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const test::Fixture fixture("farthest_point_sampling_" + name);
  require_equal(farthest_point_sampling(fixture.get("points", dtype), static_cast<int64_t>(fixture.number("m", 0)),
                                        fixture.optional("ptr"), static_cast<int64_t>(fixture.number("start", 0))),
                fixture.get("out"), name);
}

TEST_CASE("farthest point sampling: equals the plain loop index by index") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const int64_t count = GENERATE(1, 2, 31, 32, 33, 100, 511, 513, 3000);
  const at::Tensor cloud = uniform(count, dtype, static_cast<uint64_t>(count));
  at::Tensor line = cloud.clone();
  line.slice(1, 1, 3).zero_();
  const std::vector<at::Tensor> shapes = {cloud,
                                          (cloud * 5).floor(),
                                          line,
                                          at::ones_like(cloud),
                                          cloud + 1000,
                                          cloud * (dtype == at::kFloat ? 1e19 : 1e153),
                                          cloud * (dtype == at::kFloat ? 1e-22 : 1e-160)};
  for (size_t shape = 0; shape < shapes.size(); ++shape) {
    INFO("shape " << shape);
    require_equal(farthest_point_sampling(shapes[shape], count, {}, count / 3),
                  slow_sampling(shapes[shape], count, count / 3), "full order");
  }
}

TEST_CASE("farthest point sampling: strides, threads and neighbours in the batch change nothing") {
  const at::Tensor points = uniform(700, at::kFloat, 1);
  const at::Tensor ptr = at::tensor({0, 0, 200, 203, 203, 700}, at::kLong);
  const at::Tensor expected =
      at::cat({slow_sampling(points.slice(0, 0, 200), 50, 1), slow_sampling(points.slice(0, 200, 203), 50, 1) + 200,
               slow_sampling(points.slice(0, 203, 700), 50, 1) + 203});
  const int threads = at::get_num_threads();
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    require_equal(farthest_point_sampling(points.t().contiguous().t(), 50, ptr, 1), expected, "packed");
  }
  at::set_num_threads(threads);
}

TEST_CASE("farthest point sampling: nothing to sample") {
  REQUIRE(farthest_point_sampling(at::empty({0, 3}), 4).sizes() == at::IntArrayRef({0}));
  REQUIRE(farthest_point_sampling(at::ones({5, 3}), 0).sizes() == at::IntArrayRef({0}));
  REQUIRE(farthest_point_sampling(at::ones({5, 3}).requires_grad_(true), 2).requires_grad() == false);
}

TEST_CASE("farthest point sampling: shapes without values") {
  const auto on_meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor points = at::empty({7, 3}, on_meta);
  REQUIRE(farthest_point_sampling(points, 4).sizes() == at::IntArrayRef({4}));
  REQUIRE(farthest_point_sampling(points, 9).sizes() == at::IntArrayRef({7}));
  REQUIRE(farthest_point_sampling(points, 4).scalar_type() == at::kLong);
  require_error([&] { farthest_point_sampling(points, -1); }, {"m must not be negative"});
  // How many rows that are depends on the values of ptr.
  require_error([&] { farthest_point_sampling(points, 4, at::empty({3}, on_meta.dtype(at::kLong))); }, {"meta"});
}

TEST_CASE("farthest point sampling: bad arguments are refused by name") {
  const at::Tensor good = uniform(6, at::kFloat, 2);
  at::Tensor broken = good.clone();
  broken[4][0] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor ptr = at::tensor({0, 2, 2, 6}, at::kLong);
  require_error([&] { farthest_point_sampling(good.slice(1, 0, 2), 1); }, {"points", "[6, 2]"});
  require_error([&] { farthest_point_sampling(good.to(at::kHalf), 1); }, {"points", "Half"});
  require_error([&] { farthest_point_sampling(broken, 1); }, {"points", "row 4"});
  require_error([&] { farthest_point_sampling(good, -1); }, {"m must", "-1"});
  require_error([&] { farthest_point_sampling(good, 1, {}, -1); }, {"start", "-1"});
  require_error([&] { farthest_point_sampling(good, 1, {}, 6); }, {"start", "6 rows"});
  require_error([&] { farthest_point_sampling(good, 1, ptr, 3); }, {"start", "item 0", "2 rows"});
  require_error([&] { farthest_point_sampling(good, 1, at::tensor({0, 2}, at::kLong)); }, {"ptr", "6"});
  require_error([&] { farthest_point_order(broken); }, {"points", "row 4"});
  const at::Tensor wide = uniform(6, at::kFloat, 2) * 1e30;
  require_error([&] { farthest_point_sampling(wide, 1); }, {"points must be at most", "apart", "another unit"});
  require_error([&] { farthest_point_order(wide); }, {"points must be at most", "apart", "another unit"});
  require_error([&] { farthest_point_order(good[0]); }, {"points"});
}

TEST_CASE("canonical order: begins farthest from the centroid and goes on by farthest point sampling") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const at::Tensor points = uniform(400, dtype, 3);
  const at::Tensor ptr = at::tensor({0, 150, 150, 400}, at::kLong);
  std::vector<at::Tensor> expected;
  for (const auto& [first, last] : {std::pair{0, 150}, std::pair{150, 400}}) {
    const at::Tensor item = points.slice(0, first, last).to(at::kDouble);
    const int64_t start = (item - item.mean(0)).square().sum(1).argmax().item<int64_t>();
    expected.push_back(slow_sampling(points.slice(0, first, last), last - first, start) + first);
  }
  require_equal(farthest_point_order(points, ptr), at::cat(expected), "order");
  // Four corners of a square are equally far from the centre: the lowest row comes first.
  const at::Tensor square = at::tensor({0., 0., 0., 1., 1., 0., 1., 0., 0., 0., 1., 0.}, dtype).view({4, 3});
  require_equal(farthest_point_order(square), at::tensor({0, 1, 2, 3}, at::kLong), "ties");
}

TEST_CASE("canonical order: does not depend on rotation, translation and stored order") {
  const at::Tensor points = uniform(500, at::kDouble, 4);
  at::Generator generator = test::generator(5);
  const at::Tensor shuffle = at::randperm(500, generator, at::TensorOptions().dtype(at::kLong));
  const at::Tensor moved = rotate(points, random_rotation(generator, at::kDouble)).index_select(0, shuffle) + 3;
  require_equal(shuffle.index_select(0, farthest_point_order(moved)), farthest_point_order(points), "order");
}

TEST_CASE("farthest point sampling: 10 million points", "[slow]") {
  const at::Tensor rows = farthest_point_sampling(uniform(10'000'000, at::kFloat, 6), 64);
  REQUIRE(std::get<0>(at::_unique(rows)).size(0) == 64);
}

}  // namespace geosft::test::test_farthest_point_sampling
