// SPDX-License-Identifier: Apache-2.0
#include "models/ops/centred_points.h"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_centred_points {
namespace {

// Item by item, from its own points.
at::Tensor slow(const at::Tensor& points, const std::vector<int64_t>& ptr) {
  at::Tensor out = points.clone();
  for (size_t item = 0; item + 1 < ptr.size(); ++item) {
    at::Tensor own = out.slice(0, ptr[item], ptr[item + 1]);
    if (own.size(0) > 0) own.sub_(points.slice(0, ptr[item], ptr[item + 1]).mean(0));
  }
  return out;
}

}  // namespace

TEST_CASE("points are centred item by item, and all of them where there are no items", "[centred_points]") {
  const at::Tensor points = at::randn({7, 3}, generator(1), at::kDouble) + 5;
  // Sums of at most 7 numbers below 10 in two orders: less than 7 x 7 x 10 roundings of 1.1e-16 apart.
  for (const std::vector<int64_t>& ptr : {std::vector<int64_t>{0, 3, 3, 7}, {0, 0, 1, 7}, {0, 7}}) {
    const at::Tensor offsets = at::tensor(ptr, at::kLong);
    require_close(centred_points(points, offsets), slow(points, ptr), 6e-14, "packed", 1.0);
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
  require_close(centred, slow(points.to(at::kDouble), {0, 50}), 0.0041, "far", 1.0);
}

TEST_CASE("gradients of centred points are those of their definition", "[centred_points]") {
  const at::Tensor ptr = at::tensor({0, 2, 2, 6}, at::kLong);
  require_gradcheck([&](const auto& in) { return centred_points(in[0], ptr); }, {at::randn({6, 3}, generator(3))});
}

TEST_CASE("no points are centred to none", "[centred_points]") {
  CHECK(centred_points(at::empty({0, 3}), std::nullopt).sizes() == at::IntArrayRef({0, 3}));
  CHECK(centred_points(at::empty({0, 3}), at::tensor({0, 0, 0}, at::kLong)).sizes() == at::IntArrayRef({0, 3}));
}

}  // namespace geosft::test::test_centred_points
