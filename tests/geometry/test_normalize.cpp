// SPDX-License-Identifier: Apache-2.0
#include "geometry/normalize.h"

#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <vector>

#include "geometry/rotation.h"
#include "tests/support.h"

namespace geosft::test::test_normalize {

namespace {

at::Tensor uniform(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  return at::rand({rows, 3}, test::generator(seed), at::TensorOptions().dtype(dtype)) * 7 + 3;
}

// Item by item, from its own points.
at::Tensor centred_slowly(const at::Tensor& points, const std::vector<int64_t>& ptr) {
  at::Tensor out = points.clone();
  for (size_t item = 0; item + 1 < ptr.size(); ++item) {
    at::Tensor own = out.slice(0, ptr[item], ptr[item + 1]);
    if (own.size(0) > 0) own.sub_(points.slice(0, ptr[item], ptr[item + 1]).mean(0));
  }
  return out;
}

}  // namespace

TEST_CASE("normalize: centroid at the origin, largest distance 1, item by item") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  // Largest difference over 1,000 seeds: 6.0e-8, one rounding, and 9.8e-16, of sums of 50 numbers in another order.
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
  // Largest difference over 1,000 seeds: 2.1e-15 and, where 1,000 leaves coordinates steps of 6.1e-5, 1.7e-5.
  require_close(normalize(rotate(points, rotation) * 5 - 20).points, rotate(normalize(points).points, rotation), 1e-14,
                "moved");
  require_close(normalize(points.to(at::kFloat) + 1000).points, normalize(points.to(at::kFloat)).points, 1e-4,
                "far from the origin");
}

TEST_CASE("normalize: bad arguments are refused by name") {
  require_error([] { normalize(at::zeros({3})); }, {"points", "[3]"});
  require_error([] { normalize(at::zeros({2, 3}) / 0); }, {"points", "finite"});
  require_error([] { normalize(at::zeros({2, 3}, at::kMeta)); }, {"points must be on the CPU, not on meta"});
  require_error([] { normalize(at::zeros({2, 3}), at::tensor({0, 1}, at::kLong)); }, {"ptr", "2"});
  require_error([] { normalize(at::eye(3, at::kDouble) * 1e300); }, {"points", "too far apart"});
}

TEST_CASE("points are centred item by item, and all of them where there are no items", "[centred_points]") {
  const at::Tensor points = at::randn({7, 3}, generator(1), at::kDouble) + 5;
  // Sums of at most 7 numbers below 10 in two orders: less than 7 x 7 x 10 roundings of 1.1e-16 apart.
  for (const std::vector<int64_t>& ptr : {std::vector<int64_t>{0, 3, 3, 7}, {0, 0, 1, 7}, {0, 7}}) {
    const at::Tensor offsets = at::tensor(ptr, at::kLong);
    require_close(centred_points(points, offsets), centred_slowly(points, ptr), 6e-14, "packed", 1.0);
  }
  require_equal(centred_points(points, std::nullopt), centred_points(points, at::tensor({0, 7}, at::kLong)), "one");
}

TEST_CASE("far from the origin, points of float32 are centred to the rounding of their coordinates",
          "[centred_points]") {
  const at::Tensor exact = at::randn({50, 3}, generator(2), at::kDouble), offset = at::full({3}, 1024.0, at::kDouble);
  const at::Tensor points = (exact + offset).to(at::kFloat);
  const at::Tensor centred = centred_points(points, std::nullopt);
  CHECK(centred.scalar_type() == at::kFloat);
  // Coordinates below 2,048 are rounded by 6.1e-5 at most; a sum of 50 of them below 65,536 by 50 times 0.0039, of
  // which the mean has the fiftieth part, and is rounded once more.
  require_close(centred, centred_slowly(points.to(at::kDouble), {0, 50}), 0.0041, "far", 1.0);
}

TEST_CASE("gradients of centred points are those of their definition", "[centred_points]") {
  const at::Tensor ptr = at::tensor({0, 2, 2, 6}, at::kLong);
  require_gradcheck([&](const auto& in) { return centred_points(in[0], ptr); }, {at::randn({6, 3}, generator(3))});
}

TEST_CASE("no points are centred to none", "[centred_points]") {
  CHECK(centred_points(at::empty({0, 3}), std::nullopt).sizes() == at::IntArrayRef({0, 3}));
  CHECK(centred_points(at::empty({0, 3}), at::tensor({0, 0, 0}, at::kLong)).sizes() == at::IntArrayRef({0, 3}));
}

}  // namespace geosft::test::test_normalize
