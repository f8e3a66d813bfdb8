// SPDX-License-Identifier: Apache-2.0
#include "geometry/normalize.h"

#include <catch2/catch.hpp>
#include <limits>

#include "geometry/rotation.h"
#include "tests/support.h"

namespace geosft::test::test_normalize {

namespace {

at::Tensor uniform(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  return at::rand({rows, 3}, test::generator(seed), at::TensorOptions().dtype(dtype)) * 7 + 3;
}

}  // namespace

TEST_CASE("normalize: centroid at the origin, largest distance 1, item by item") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const double tolerance = dtype == at::kFloat ? 1e-6 : 1e-13;
  const at::Tensor points = uniform(90, dtype, 1);
  const NormalizedPoints result = normalize(points.t().contiguous().t(), at::tensor({0, 40, 40, 90}, at::kLong));
  REQUIRE(result.points.scalar_type() == dtype);
  REQUIRE(result.scale[1].item<double>() == 0);
  require_equal(result.centroid[1], at::zeros({3}, at::kDouble), "centroid of an empty item");
  for (const auto& [item, first, last] : {std::tuple{0, 0, 40}, std::tuple{2, 40, 90}}) {
    const at::Tensor in = points.slice(0, first, last).to(at::kDouble), out = result.points.slice(0, first, last);
    require_close(result.centroid[item], in.mean(0), 1e-13, "centroid");
    require_close(result.scale[item], (in - in.mean(0)).norm(2, 1).max(), 1e-13, "scale");
    require_close(out, (in - in.mean(0)) / result.scale[item], tolerance, "points");
    require_close(out.norm(2, 1).max(), at::ones({}), tolerance, "largest distance");
  }
}

TEST_CASE("normalize: equal rows become zeros, one row too") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  for (const int64_t rows : {1, 7, 1000}) {
    const NormalizedPoints result = normalize(at::full({rows, 3}, 0.1, dtype));
    require_equal(result.points, at::zeros({rows, 3}, dtype), "points");
    REQUIRE(result.scale.item<double>() == 0);
  }
}

TEST_CASE("normalize: rotates and moves with the points") {
  const at::Tensor points = uniform(200, at::kDouble, 2), rotation = random_rotation(test::generator(3), at::kDouble);
  require_close(normalize(rotate(points, rotation) * 5 - 20).points, rotate(normalize(points).points, rotation), 1e-14,
                "moved");
  require_close(normalize(points.to(at::kFloat) + 1000).points, normalize(points.to(at::kFloat)).points, 1e-4,
                "far from the origin");
}

TEST_CASE("normalize: bad arguments are refused by name") {
  require_error([] { normalize(at::zeros({3})); }, {"points", "[3]"});
  require_error([] { normalize(at::zeros({2, 3}) / 0); }, {"points", "finite"});
  require_error([] { normalize(at::zeros({2, 3}), at::tensor({0, 1}, at::kLong)); }, {"ptr", "2"});
  require_error([] { normalize(at::eye(3, at::kDouble) * 1e300); }, {"points", "too far apart"});
}

}  // namespace geosft::test::test_normalize
