// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_pair_features.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "geometry/knn.h"
#include "geometry/rotation.h"
#include "models/training/autocast.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_point_pair_features {
namespace {

using Vector = std::array<double, 3>;

at::Tensor neighbours(const at::Tensor& points, int64_t k, const std::optional<at::Tensor>& ptr = std::nullopt) {
  return std::get<0>(knn(points, points, k, ptr, ptr));
}

Vector row(const at::Tensor& rows, int64_t i) {
  return {rows[i][0].item<double>(), rows[i][1].item<double>(), rows[i][2].item<double>()};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector scaled(const Vector& a, double by) {
  return {a[0] * by, a[1] * by, a[2] * by};
}

// The definition, pair by pair, for one cloud; the next neighbour is the one with the smallest positive angle.
at::Tensor slow_features(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& index) {
  const at::Tensor centred = points - points.mean(0, true);
  at::Tensor result = at::zeros({index.size(0), index.size(1), point_pair_channels}, at::kDouble);
  for (int64_t i = 0; i < index.size(0); ++i) {
    const Vector p = row(centred, i), n = row(normals, i);
    struct Neighbour {
      Vector at, normal, u;
      double distance;
    };
    std::vector<Neighbour> around;
    double square = 0;
    for (int64_t k = 0; k < index.size(1); ++k) {
      const auto j = index[i][k].item<int64_t>();
      if (j < 0) continue;
      const Vector at = row(centred, j), d{at[0] - p[0], at[1] - p[1], at[2] - p[2]};
      const double distance = std::sqrt(dot(d, d));
      if (distance <= 1e-9) continue;
      around.push_back({at, row(normals, j), scaled(d, 1 / distance), distance});
      square += dot(d, d);
    }
    const double r = std::sqrt(square / static_cast<double>(around.size())), length = std::sqrt(dot(p, p));
    for (size_t k = 0; k < around.size(); ++k) {
      const Neighbour& j = around[k];
      const Neighbour* next = &j;
      double nearest = 10;
      for (const Neighbour& other : around) {
        if (&other == &j) continue;
        const double angle = std::atan2(dot(n, cross(j.u, other.u)), dot(j.u, other.u) - dot(n, j.u) * dot(n, other.u));
        const double turn = angle > 0 ? angle : angle + 2 * M_PI;
        if (turn < nearest) {
          nearest = turn;
          next = &other;
        }
      }
      const std::vector<double> channels{j.distance / r,      dot(n, j.u),
                                         dot(j.normal, j.u),  dot(n, j.normal),
                                         dot(j.u, next->u),   (std::sqrt(dot(j.at, j.at)) - length) / r,
                                         dot(p, j.u) / length};
      result[i][static_cast<int64_t>(k)].copy_(at::tensor(channels, at::kDouble));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("point-pair features are those of the definition", "[point_pair_features]") {
  // Measured over 1,000 seeds, at most: 1.5e-15 where 1e-10 is allowed.
  const at::Tensor points = normal({40, 3}, 1), normals = unit(normal({40, 3}, 2));
  const at::Tensor index = neighbours(points, 9).slice(1, 1);
  const at::Tensor features = point_pair_features(points, normals, index);
  REQUIRE(features.sizes() == at::IntArrayRef({40, 8, point_pair_channels}));
  require_close(features, slow_features(points, normals, index), 1e-10, "features");
}

TEST_CASE("point-pair features of the CPU are those of the composite", "[point_pair_features]") {
  // Measured over 1,000 seeds, at most: 5.0e-16 where 1e-12 is allowed, and the same bits where 1e-5 is allowed.
  const at::Tensor points = normal({70, 3}, 21), normals = unit(normal({70, 3}, 22));
  const at::Tensor ptr = at::tensor({0, 20, 21, 70}, at::kLong), index = neighbours(points, 25, ptr);
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    for (const bool with : {true, false}) {
      const at::Tensor x = points.to(type);
      const auto n = with ? std::make_optional(normals.to(type)) : std::nullopt;
      require_close(point_pair_features(x, n, index, ptr), composite_point_pair_features(x, n, index, ptr),
                    type == at::kDouble ? 1e-12 : 1e-5, "features");
    }
  }
}

TEST_CASE("point-pair features have the gradients of their formulas in the points and normals",
          "[point_pair_features]") {
  const at::Tensor points = normal({12, 3}, 41), normals = unit(normal({12, 3}, 42));
  const at::Tensor ptr = at::tensor({0, 3, 12}, at::kLong), index = neighbours(points, 6, ptr);
  const auto features = [&](const std::vector<at::Tensor>& in) {
    return point_pair_features(in[0], in.size() > 1 ? std::optional(in[1]) : std::nullopt, index, ptr);
  };
  require_gradcheck(features, {points}, 1e-7);
  require_gradcheck(features, {points, normals}, 1e-7);
  require_no_double_backward(features, {points, normals}, "point_pair_features");
  at::Tensor equal = at::ones({12, 3}, at::kDouble).requires_grad_(true);
  features({equal, normals}).sum().backward();
  CHECK(equal.grad().isfinite().all().item<bool>());
}

TEST_CASE("features of neighbours in a plane are known", "[point_pair_features]") {
  // Measured: 2.5e-13 where 1e-6 is allowed.
  // The centre of a square, and its corners with normals that lean outwards by 45 degrees.
  const at::Tensor points =
      at::tensor({0.0, 0.0, 0.0, 1.0, 1.0, 0.0, -1.0, 1.0, 0.0, -1.0, -1.0, 0.0, 1.0, -1.0, 0.0}, at::kDouble)
          .view({5, 3});
  const at::Tensor up = at::tensor({0.0, 0.0, 1.0}, at::kDouble).expand({5, 3});
  const at::Tensor features = point_pair_features(points, unit(unit(points + 1e-12 * up) + up), neighbours(points, 5));
  const double half = std::sqrt(0.5);
  // The centre of the square is that of the cloud, and counts as no neighbour of itself.
  const at::Tensor corner = at::tensor({1.0, 0.0, half, half, 0.0, 1.0, 0.0}, at::kDouble);
  require_close(features[0].slice(1, 0, 6), corner.slice(0, 0, 6).expand({5, 6}), 1e-6, "centre");
}

TEST_CASE("rotation and translation leave point-pair features", "[point_pair_features]") {
  // Measured over 1,000 seeds, at most: 1.3e-14 where 1e-9 is allowed.
  const at::Tensor points = normal({70, 3}, 3), normals = unit(normal({70, 3}, 4));
  const at::Tensor ptr = at::tensor({0, 20, 21, 70}, at::kLong), index = neighbours(points, 12, ptr);
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  const at::Tensor moved = rotate(points, rotation) + at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  for (const bool with : {true, false}) {
    const auto of = [&](const at::Tensor& x, const at::Tensor& n) {
      return point_pair_features(x, with ? std::make_optional(n) : std::nullopt, index, ptr);
    };
    require_close(of(moved, rotate(normals, rotation)), of(points, normals), 1e-9, "moved");
  }
}

TEST_CASE("point-pair features of a cloud do not depend on the batch", "[point_pair_features]") {
  // Measured: the same bits where 1e-12 is allowed.
  const at::Tensor points = normal({60, 3}, 7), normals = unit(normal({60, 3}, 8));
  const at::Tensor ptr = at::tensor({0, 5, 5, 45, 60}, at::kLong);
  const at::Tensor whole = point_pair_features(points, normals, neighbours(points, 8, ptr), ptr);
  for (const auto& [begin, end] : {std::pair{0, 5}, {5, 45}, {45, 60}}) {
    const at::Tensor cloud = points.slice(0, begin, end);
    const at::Tensor alone = point_pair_features(cloud, normals.slice(0, begin, end), neighbours(cloud, 8));
    require_close(whole.slice(0, begin, end), alone, 1e-12, "cloud from " + std::to_string(begin));
  }
}

TEST_CASE("missing neighbours repeat one that exists, and points without any have zeros", "[point_pair_features]") {
  const at::Tensor points = at::cat({normal({4, 3}, 9), at::full({3, 3}, 0.5, at::kDouble)});
  const at::Tensor normals = unit(at::ones({7, 3}, at::kDouble)), ptr = at::tensor({0, 4, 5, 7}, at::kLong);
  const at::Tensor features = point_pair_features(points, normals, neighbours(points, 6, ptr), ptr);
  REQUIRE(at::isfinite(features).all().item<bool>());
  for (int64_t i = 0; i < 4; ++i) {  // the point itself, three neighbours, and none
    for (const int64_t k : {0, 4, 5}) require_equal(features[i][k], features[i][1], "repeated");
  }
  require_equal(features.slice(0, 4), at::zeros({3, 6, point_pair_channels}, at::kDouble), "alone, and twice");
  CHECK(point_pair_features(points.slice(0, 0, 0), std::nullopt, at::empty({0, 6}, at::kLong)).sizes() ==
        at::IntArrayRef({0, 6, point_pair_channels}));
}

TEST_CASE("point-pair features have the type of the points, inside autocast too", "[point_pair_features]") {
  const at::Tensor points = normal({30, 3}, 13).to(at::kFloat), normals = unit(normal({30, 3}, 14)).to(at::kFloat);
  const at::Tensor index = neighbours(points, 8), expected = point_pair_features(points, normals, index);
  REQUIRE(expected.scalar_type() == at::kFloat);
  const Autocast autocast(at::kCPU, at::kBFloat16);
  require_equal(point_pair_features(points, normals, index), expected, "features");
}

TEST_CASE("errors of point-pair features name the argument", "[point_pair_features]") {
  const at::Tensor points = normal({5, 3}, 15), index = neighbours(points, 2);
  require_error([&] { point_pair_features(points.slice(1, 0, 2), std::nullopt, index); }, {"points", "[5, 2]"});
  require_error([&] { point_pair_features(points, points.slice(0, 1), index); }, {"normals", "[4, 3]"});
  require_error([&] { point_pair_features(points, std::nullopt, index.slice(0, 1)); }, {"index", "[4, 2]"});
  require_error([&] { point_pair_features(points, std::nullopt, index.to(at::kInt)); }, {"index", "Int"});
  require_error([&] { point_pair_features(points, std::nullopt, index + 4); }, {"index", "5"});
  require_error([&] { point_pair_features(points, std::nullopt, index, at::tensor({0, 5}, at::kInt)); }, {"ptr"});
}

}  // namespace geosft::test::test_point_pair_features
