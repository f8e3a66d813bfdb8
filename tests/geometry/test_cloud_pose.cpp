// SPDX-License-Identifier: Apache-2.0
#include "geometry/cloud_pose.h"

#include <catch2/catch.hpp>
#include <vector>

#include "geometry/augment.h"
#include "tests/support.h"

namespace geosft::test::test_cloud_pose {
namespace {

constexpr uint64_t poses = 4000;

struct Poses {
  at::Tensor point, normal, scale;  // [poses, 3, 3], [poses, 3, 3], [poses]

  explicit Poses(const AugmentOptions& options)
      : point(at::empty({poses, 3, 3}, at::kDouble)),
        normal(at::empty_like(point)),
        scale(at::empty({poses}, at::kDouble)) {
    for (uint64_t seed = 0; seed < poses; ++seed) {
      const CloudPose pose = cloud_pose(seed, options);
      std::copy_n(&pose.point[0][0], 9, point.data_ptr<double>() + 9 * seed);
      std::copy_n(&pose.normal[0][0], 9, normal.data_ptr<double>() + 9 * seed);
      scale.data_ptr<double>()[seed] = pose.scale;
    }
  }
};

}  // namespace

TEST_CASE("a cloud that is left alone is mapped to itself", "[cloud_pose]") {
  const Poses found({});
  const at::Tensor one = at::eye(3, at::kDouble).expand({poses, 3, 3});
  require_equal(found.point, one, "points");
  require_equal(found.normal, one, "normals");
  require_equal(found.scale, at::ones({poses}, at::kDouble), "scale");
}

TEST_CASE("rotations of clouds are rotations, uniform", "[cloud_pose]") {
  const Poses found({.rotation = Rotation::so3});
  const at::Tensor one = at::eye(3, at::kDouble);
  // Measured over the 4,000 poses: 2.0e-15.
  require_close(at::matmul(found.point, found.point.transpose(1, 2)), one.expand({poses, 3, 3}), 1e-14, "orthonormal");
  require_close(at::linalg_det(found.point), at::ones({poses}, at::kDouble), 1e-14, "no reflections");
  require_equal(found.normal, found.point, "normals turn alike");
  // Entries have mean 0 and variance 1/3; 4 deviations. Two of them are uncorrelated.
  const at::Tensor flat = found.point.view({poses, 9});
  require_close(flat.mean(0), at::zeros({9}, at::kDouble), 0.037, "mean");
  require_close(flat.t().matmul(flat) / static_cast<double>(poses), at::eye(9, at::kDouble) / 3, 0.06, "variance");
  // The angle of a uniform rotation has the density (1 - cos a) / pi, and cos a the mean -1/2.
  const at::Tensor cosine = (flat.index_select(1, at::tensor({0, 4, 8}, at::kLong)).sum(1) - 1) / 2;
  require_close(cosine.mean(), at::scalar_tensor(-0.5, at::kDouble), 0.065, "angle");  // variance 1/4; 4 deviations
}

TEST_CASE("rotations about z leave it alone, at any angle", "[cloud_pose]") {
  const Poses found({.rotation = Rotation::z});
  const at::Tensor axis = at::tensor({0., 0., 1.}, at::kDouble).expand({poses, 3});
  require_equal(found.point.select(2, 2), axis, "z");
  require_equal(found.point.select(1, 2), axis, "row of z");
  const at::Tensor cosine = found.point.select(1, 0).select(1, 0), sine = found.point.select(1, 1).select(1, 0);
  // Measured: 6.7e-16.
  require_close(cosine.square() + sine.square(), at::ones({poses}, at::kDouble), 1e-14, "length");
  // Variances of 1/2, 1/2, 1/8 and 1/8; 4 deviations of the first two.
  for (const at::Tensor& one : {cosine, sine, cosine * sine, cosine.square() - 0.5}) {
    CHECK(one.mean().item<double>() == Approx(0).margin(0.045));
  }
}

TEST_CASE("a stretch is one factor an axis, uniform in its logarithm, and keeps normals perpendicular",
          "[cloud_pose]") {
  const Poses found({.stretch = 0.5, .rotation = Rotation::so3});
  const at::Tensor log = found.point.norm(2, 1).log();  // of the columns
  CHECK(log.abs().max().item<double>() <= 0.5);
  CHECK(log.abs().max().item<double>() > 0.499);
  // Squares of numbers uniform in -0.5 to 0.5 have the variance 1/180; 5 deviations.
  require_close(log.t().matmul(log) / static_cast<double>(poses), at::eye(3, at::kDouble) / 12, 0.07, "variance");
  // A tangent and a normal stay perpendicular: the product of the maps is 1. Measured: 2.0e-15.
  require_close(at::matmul(found.point.transpose(1, 2), found.normal), at::eye(3, at::kDouble).expand({poses, 3, 3}),
                1e-14, "normals");
}

TEST_CASE("the scale is uniform in its range, and nothing to do with the rest", "[cloud_pose]") {
  const Poses found({.stretch = 0.5, .rotation = Rotation::so3, .scale_low = 0.8, .scale_high = 1.2});
  // None of 4,000 lies in an outermost 400th with a probability of (1 - 1/400)^4000 = 5e-5.
  CHECK(found.scale.min().item<double>() == Approx(0.8).margin(1e-3));
  CHECK(found.scale.max().item<double>() == Approx(1.2).margin(1e-3));
  CHECK(found.scale.min().item<double>() >= 0.8);
  CHECK(found.scale.max().item<double>() <= 1.2);
  const at::Tensor scale = (found.scale - 1) / (0.4 / std::sqrt(12.0)), point = found.point.view({poses, 9});
  // Variances of 1, 4/5 and at most 0.45; 4 deviations.
  CHECK(scale.mean().item<double>() == Approx(0).margin(0.064));
  CHECK(scale.square().mean().item<double>() == Approx(1).margin(0.06));
  require_close(scale.unsqueeze(0).matmul(point) / static_cast<double>(poses), at::zeros({1, 9}, at::kDouble), 0.045,
                "correlation");
}

TEST_CASE("normals that are stretched stay unit, and of no length stay finite", "[cloud_pose]") {
  const AugmentOptions options{.stretch = 0.5, .rotation = Rotation::so3};
  const CloudPose pose = cloud_pose(3, options);
  const double normal[3] = {0.6, 0, -0.8}, none[3] = {0, 0, 0};
  double to[3];
  write_normal(normal, pose, options, to);
  CHECK(std::hypot(to[0], to[1], to[2]) ==
        Approx(1).epsilon(1e-14));  // a division and a norm: some roundings of 1.1e-16
  write_normal(none, pose, options, to);
  CHECK(std::hypot(to[0], to[1], to[2]) == 0);
}

}  // namespace geosft::test::test_cloud_pose
