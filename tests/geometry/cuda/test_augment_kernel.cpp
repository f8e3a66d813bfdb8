// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/augment_kernel.cuh"

#include <catch2/catch.hpp>

#include "geometry/cuda/augment_host.h"
#include "tests/geometry/augment_cases.h"
#include "tests/geometry/cuda/emulated_block.h"

namespace geosft::test::test_augment_kernel {
namespace {

template <ThreadOrder kOrder>
AugmentedClouds emulated(const SeededClouds& clouds, const AugmentOptions& options) {
  const auto normals = clouds.normals.defined() ? std::make_optional(clouds.normals) : std::nullopt;
  auto [points, turned, ptr, rows] =
      cuda::augmented_clouds(clouds.points, normals, clouds.ptr, clouds.seeds, options, [](const auto& in) {
        using T = std::remove_pointer_t<decltype(in.to_points)>;
        EmulatedGrids<kOrder>().template grid<cuda::AugmentKernel<T>>(in.all.items, 1, in);
      });
  return {points, turned, ptr, rows};
}

// Sums of a block run in another order than those of the CPU; whatever the order of its threads they are the same.
void require_clouds_of_cpu(const SeededClouds& clouds, const AugmentOptions& options, const std::string& what) {
  const AugmentedClouds expected = clouds.changed(options);
  const AugmentedClouds found = emulated<ThreadOrder::kAscending>(clouds, options);
  const AugmentedClouds turned = emulated<ThreadOrder::kDescending>(clouds, options);
  require_equal(found.rows, expected.rows, what + " rows");
  require_equal(found.ptr, expected.ptr, what + " ptr");
  // Over 1,000 seeds: the same bits in float32, whose sums are of doubles, and 2.1e-15 at most in float64.
  const double tolerance = clouds.points.scalar_type() == at::kFloat ? 1e-7 : 1e-14;
  require_close(found.points, expected.points, tolerance, what + " points");
  require_equal(turned.points, found.points, what + " points turned");
  require_equal(turned.rows, found.rows, what + " rows turned");
  REQUIRE(found.normals.defined() == clouds.normals.defined());
  if (!clouds.normals.defined()) return;
  require_equal(found.normals, expected.normals, what + " normals");
  require_equal(turned.normals, found.normals, what + " normals turned");
}

}  // namespace

TEST_CASE("the CUDA kernel of augment_clouds, emulated, gives the clouds of the CPU", "[augment_tile]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const SeededClouds clouds({30, 0, 1, 7, 21, 20, 700, 257}, type);
    require_clouds_of_cpu(clouds, every_change(), "every change");
    AugmentOptions large = every_change();
    large.points = 300;
    require_clouds_of_cpu(clouds, large, "more points than threads");
    require_clouds_of_cpu(clouds, {}, "no change");
    require_clouds_of_cpu(clouds, {.drop = 0.5}, "dropped points");
    require_clouds_of_cpu(clouds, {.stretch = 0.2, .rotation = Rotation::z}, "about z");
    SeededClouds bare = clouds;
    bare.normals = at::Tensor();
    require_clouds_of_cpu(bare, every_change(), "no normals");
    SeededClouds equal = clouds;
    equal.points = at::ones_like(clouds.points);
    require_clouds_of_cpu(equal, every_change(), "equal points");
    require_clouds_of_cpu(SeededClouds({0}, type), every_change(), "no points");
  }
}

TEST_CASE("the CUDA kernel of augment_clouds, emulated, takes points that are not finite", "[augment_tile]") {
  SeededClouds clouds({30, 40});
  const AugmentedClouds expected = clouds.changed(every_change());
  clouds.points[3].fill_(std::numeric_limits<double>::quiet_NaN());
  clouds.points[4].fill_(std::numeric_limits<double>::infinity());
  const AugmentedClouds found = emulated<ThreadOrder::kAscending>(clouds, every_change());
  require_equal(found.rows, expected.rows, "rows");
  const int64_t first = found.ptr[1].item<int64_t>();
  // As above; 7.9e-16 here.
  require_close(found.points.slice(0, first), expected.points.slice(0, first), 1e-14, "the other cloud");
}

}  // namespace geosft::test::test_augment_kernel
