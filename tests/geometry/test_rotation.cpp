// SPDX-License-Identifier: Apache-2.0
#include "geometry/rotation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_rotation {
using test::require_close;
using test::require_equal;
using test::require_error;

TEST_CASE("random rotations are rotations, decided by the generator") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  // Largest difference over 1,000 seeds: 1.3e-7 and 1.7e-15.
  const double tolerance = dtype == at::kFloat ? 1e-6 : 1e-14;
  at::Generator generator = test::generator(1);
  const at::Tensor first = random_rotation(generator, dtype), second = random_rotation(generator, dtype);
  REQUIRE(first.scalar_type() == dtype);
  for (const at::Tensor& rotation : {first, second}) {
    require_close(at::matmul(rotation.t(), rotation), at::eye(3, dtype), tolerance, "orthonormal");
    require_close(rotation[0].cross(rotation[1], 0), rotation[2], tolerance, "right-handed");
  }
  REQUIRE_FALSE(at::allclose(first, second));
  require_equal(random_rotation(test::generator(1), dtype), first, "same seed");
}

TEST_CASE("random rotations are uniform") {
  at::Generator generator = test::generator(2);
  at::Tensor mean = at::zeros({3, 3}, at::kDouble), square = mean.clone();
  double angle_cosine = 0;
  constexpr int count = 12'000;
  for (int i = 0; i < count; ++i) {
    const at::Tensor rotation = random_rotation(generator, at::kDouble);
    mean += rotation / count;
    square += rotation.square() / count;
    angle_cosine += (rotation.trace().item<double>() - 1) / 2 / count;
  }
  // Over SO(3) every entry has mean 0 and mean square 1/3, and the cosine of the angle has mean -1/2. Their variances
  // are 1/3, 4/45 and 1/4, so that the bounds are 9.5, 7.3 and 6.6 deviations of the means of 12,000.
  REQUIRE(mean.abs().max().item<double>() < 0.05);
  require_close(square, at::full({3, 3}, 1 / 3., at::kDouble), 0.06, "mean squares");
  REQUIRE(std::abs(angle_cosine + 0.5) < 0.03);
}

TEST_CASE("axis rotations turn anti-clockwise") {
  // The cosine of the double next to pi / 2 is 6.1e-17; the third of a turn rounds a few products of numbers below 1.
  const at::Tensor quarter = axis_rotation({0, 0, 2}, M_PI / 2, at::kDouble);
  const at::Tensor x = at::tensor({1., 0., 0.}, at::kDouble).unsqueeze(0);
  require_close(rotate(x, quarter), at::tensor({0., 1., 0.}, at::kDouble).unsqueeze(0), 1e-15, "x becomes y");
  const at::Tensor third = axis_rotation({1e-200, 1e-200, 1e-200}, 2 * M_PI / 3, at::kDouble);
  require_close(rotate(x, third), at::tensor({0., 1., 0.}, at::kDouble).unsqueeze(0), 1e-14, "cyclic permutation");
  require_equal(axis_rotation({1, 2, 3}, 0), at::eye(3), "no angle");
}

TEST_CASE("a rotation about an axis of coordinates leaves that coordinate as it is") {
  const at::Tensor points = at::randn({20, 3}, generator(9), at::TensorOptions().dtype(at::kDouble));
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::array<double, 3> direction{};
    direction.at(static_cast<size_t>(axis)) = axis == 1 ? -3 : 3;
    for (int step = 1; step < 500; ++step) {
      const at::Tensor turned = rotate(points, axis_rotation(direction, 0.0123 * step, at::kDouble));
      REQUIRE(at::equal(turned.select(1, axis), points.select(1, axis)));
    }
  }
}

TEST_CASE("rotate is differentiable in the points") {
  const at::Tensor rotation = random_rotation(test::generator(3), at::kDouble);
  const at::Tensor points = at::rand({4, 3}, test::generator(4), at::TensorOptions().dtype(at::kDouble));
  test::require_gradcheck([&](const std::vector<at::Tensor>& in) { return rotate(in[0], rotation); }, {points});
}

TEST_CASE("bad rotations are refused by name") {
  const at::Tensor points = at::ones({2, 3});
  require_error([] { axis_rotation({0, 0, 0}, 1); }, {"axis", "zero"});
  require_error([] { axis_rotation({NAN, 0, 0}, 1); }, {"axis", "finite"});
  require_error([] { axis_rotation({1, 0, 0}, INFINITY); }, {"angle", "inf"});
  require_error([] { axis_rotation({1, 0, 0}, 1, at::kLong); }, {"dtype", "Long"});
  require_error([&] { rotate(points[0], at::eye(3)); }, {"points"});
  require_error([&] { rotate(points, at::ones({3})); }, {"rotation", "[3, 3]"});
  require_error([&] { rotate(points, at::Tensor()); }, {"rotation"});
  require_error([&] { rotate(points, at::eye(3) * 1.01); }, {"rotation", "orthonormal"});
  require_error(
      [&] {
        rotate(points, at::full({3, 3}, std::numeric_limits<float>::quiet_NaN()));
      },
      {"rotation", "orthonormal"});
  require_error([&] { rotate(points, -at::eye(3)); }, {"rotation", "determinant"});
  require_error([&] { rotate(points, at::eye(3, at::kDouble)); }, {"points", "rotation", "Double"});
  // The dtype comes first: a float32 rotation is not orthonormal to the tolerance of float64.
  const at::Tensor rounded = axis_rotation({1, 2, 3}, 0.7).to(at::kFloat).to(at::kDouble);
  require_error([&] { rotate(points, rounded); }, {"points", "rotation", "Double"});
}

}  // namespace geosft::test::test_rotation
