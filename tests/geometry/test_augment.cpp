// SPDX-License-Identifier: Apache-2.0
#include "geometry/augment.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"

namespace geosft::test::test_augment {
using test::require_close;
using test::require_equal;
using test::require_error;

TEST_CASE("random scale: one number from the range") {
  at::Generator generator = test::generator(1);
  const at::Tensor points = at::rand({20, 3}, test::generator(2), at::TensorOptions().dtype(at::kDouble)) + 1;
  double smallest = 9, largest = 0;
  for (int i = 0; i < 200; ++i) {
    const at::Tensor ratio = random_scale(points, 0.8, 1.25, generator) / points;
    require_close(ratio, ratio[0][0].expand_as(ratio), 1e-14, "one factor");
    smallest = std::min(smallest, ratio[0][0].item<double>());
    largest = std::max(largest, ratio[0][0].item<double>());
  }
  REQUIRE((smallest >= 0.8 - 1e-12 && smallest < 0.82));
  REQUIRE((largest <= 1.25 + 1e-12 && largest > 1.23));
  REQUIRE(random_scale(points.to(at::kFloat), 1, 2, generator).scalar_type() == at::kFloat);
}

TEST_CASE("jitter: normal noise, clipped") {
  const at::Tensor points = at::ones({20000, 3}, at::kDouble);
  const at::Tensor noise = jitter(points, 0.02, 0.05, test::generator(3)) - points;
  REQUIRE(std::abs(noise.mean().item<double>()) < 5e-4);
  require_close(noise.std(), at::scalar_tensor(0.0195, at::kDouble), 0.03, "standard deviation after clipping");
  REQUIRE(std::abs(noise.abs().max().item<double>() - 0.05) < 1e-12);
  require_equal(jitter(points, 0, 0.05, test::generator(3)), points, "no noise");
}

TEST_CASE("random subset: distinct rows in order, all equally likely") {
  at::Generator generator = test::generator(4);
  at::Tensor counts = at::zeros({10}, at::kLong);
  for (int i = 0; i < 2000; ++i) {
    const at::Tensor rows = random_subset(10, 4, generator);
    REQUIRE(rows.size(0) == 4);
    REQUIRE((rows.diff() > 0).all().item<bool>());
    counts.index_add_(0, rows, at::ones({4}, at::kLong));
  }
  require_close(counts, at::full({10}, 800), 0.12, "how often each row");
  require_equal(random_subset(6, 6, generator), at::arange(6, at::kLong), "all rows");
  REQUIRE(random_subset(6, 0, generator).size(0) == 0);
  require_equal(random_subset(99, 9, test::generator(5)), random_subset(99, 9, test::generator(5)), "same seed");
}

TEST_CASE("drop rows: keeps ceil((1 - p) n)") {
  at::Generator generator = test::generator(6);
  const auto kept = [&](int64_t n, double p) { return drop_rows(n, p, generator).size(0); };
  REQUIRE(kept(10, 0.7) == 3);
  REQUIRE(kept(100, 0.29) == 71);
  REQUIRE(kept(10, 0.25) == 8);
  REQUIRE(kept(1, 0.99) == 1);
  REQUIRE(kept(0, 0.5) == 0);
  require_equal(drop_rows(5, 0, generator), at::arange(5, at::kLong), "nothing dropped");
}

TEST_CASE("augmentation: bad arguments are refused by name") {
  const at::Tensor points = at::ones({4, 3});
  at::Generator g = test::generator(7);
  require_error([&] { random_scale(points[0], 1, 2, g); }, {"points"});
  require_error([&] { random_scale(points, 0, 2, g); }, {"low", "0"});
  require_error([&] { random_scale(points, 2, 1, g); }, {"high", "1"});
  require_error([&] { jitter(points[0], 1, 1, g); }, {"points"});
  require_error([&] { jitter(points, -1, 1, g); }, {"sigma", "-1"});
  require_error([&] { jitter(points, 1, NAN, g); }, {"clip", "nan"});
  require_error([&] { random_subset(4, 5, g); }, {"m must", "4", "5"});
  require_error([&] { random_subset(-1, 0, g); }, {"n must", "-1"});
  require_error([&] { drop_rows(4, 1, g); }, {"p must", "1"});
  require_error([&] { drop_rows(-4, 0.5, g); }, {"n must", "-4"});
}

TEST_CASE("a random stretch keeps normals perpendicular to the surface") {
  const at::Tensor along = at::randn({50, 3}, test::generator(1), at::kDouble);
  const at::Tensor normals = at::linalg_cross(along, at::randn({50, 3}, test::generator(2), at::kDouble));
  const at::Tensor unit = normals / normals.norm(2, -1, true);
  const StretchedPoints stretched = random_stretch(along, unit, 0.5, test::generator(3));
  // `along` is tangent to the surface at each point; a linear map takes tangents to tangents.
  REQUIRE((stretched.points * stretched.normals).sum(-1).abs().max().item<double>() < 1e-12);
  test::require_close(stretched.normals.norm(2, -1), at::ones({50}, at::kDouble), 1e-12, "unit normals");
  const at::Tensor factor = stretched.points / along;
  REQUIRE((factor.log().abs() <= 0.5).all().item<bool>());
  REQUIRE_FALSE(at::allclose(factor[0][0], factor[0][1]));
  REQUIRE(at::equal(random_stretch(along, {}, 0.0, test::generator(3)).points, along));
  test::require_error([&] { random_stretch(along, unit, -1, test::generator(1)); }, {"spread"});
  test::require_error([&] { random_stretch(along, unit.narrow(0, 0, 3), 0.1, test::generator(1)); }, {"normals"});
}

}  // namespace geosft::test::test_augment
