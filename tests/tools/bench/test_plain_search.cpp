// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include <catch2/catch.hpp>

#include "geometry/farthest_point_sampling.h"
#include "tests/support.h"

namespace geosft::bench::test::test_plain_search {
namespace {

at::Tensor cloud(int64_t n) {
  return at::rand({n, 3}, geosft::test::generator(8), at::TensorOptions());
}

}  // namespace

TEST_CASE("the plain loop chooses the farthest points, duplicates last", "[bench]") {
  const at::Tensor points = at::cat({cloud(200), cloud(200)});
  geosft::test::require_equal(plain_farthest_points(points, 150), farthest_point_sampling(points, 150), "few");
  geosft::test::require_equal(plain_farthest_points(points, 999), farthest_point_sampling(points, 999), "all");
}

TEST_CASE("plain neighbours are the smallest distances", "[bench]") {
  const at::Tensor points = cloud(300);
  const at::Tensor all = (points.unsqueeze(1) - points.unsqueeze(0)).square().sum(-1);
  geosft::test::require_close(plain_neighbour_distances(points, 7), std::get<0>(all.sort(1)).narrow(1, 0, 7), 1e-6,
                              "distances");
}

}  // namespace geosft::bench::test::test_plain_search
