// SPDX-License-Identifier: Apache-2.0
#include "models/ops/shape_context.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/rotation.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_shape_context {
namespace {

constexpr int64_t shells = shape_context_shells, angles = shape_context_angles;

// The share of node `node` of `nodes` in a value from 0 to 1.
double share_of(double value, int64_t node, int64_t nodes) {
  return std::max(0.0, 1 - std::abs(value * static_cast<double>(nodes - 1) - static_cast<double>(node)));
}

std::vector<double> row_of(const at::Tensor& rows, int64_t row) {
  return {rows[row][0].item<double>(), rows[row][1].item<double>(), rows[row][2].item<double>()};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The context of one point of a cloud, node by node.
std::vector<double> slow_context(const at::Tensor& points, const at::Tensor& normals, int64_t i) {
  const int64_t n = points.size(0), m = std::min<int64_t>(n, shape_context_references);
  const int64_t kinds = normals.defined() ? 3 : 1, columns = normals.defined() ? angles : 1;
  std::vector<double> context(static_cast<size_t>(kinds * shells * columns), 0.0);
  double pairs = 0;
  for (int64_t k = 1; k <= m; ++k) {
    const int64_t j = (k * n + m - 1) / m - 1;
    if (j == i) continue;
    ++pairs;
    std::vector<double> d = row_of(points - points[i], j);
    const double r = std::sqrt(dot(d, d));
    for (double& one : d) one /= std::max(r, 0.01);
    const double begin = std::sqrt(0.0002), end = std::sqrt(2.0002);
    const double position = (std::sqrt(std::min(r, 2.0) + 0.0002) - begin) / (end - begin);
    std::vector<double> cosines = {0};
    if (normals.defined()) {
      const std::vector<double> here = row_of(normals, i), there = row_of(normals, j);
      cosines = {dot(d, here), dot(here, there), dot(d, there)};
    }
    for (int64_t kind = 0; kind < kinds; ++kind) {
      for (int64_t shell = 0; shell < shells; ++shell) {
        for (int64_t angle = 0; angle < columns; ++angle) {
          const double in_angle =
              columns == 1 ? 1.0 : share_of((cosines[static_cast<size_t>(kind)] + 1) / 2, angle, angles);
          context[static_cast<size_t>((kind * shells + shell) * columns + angle)] +=
              share_of(position, shell, shells) * in_angle;
        }
      }
    }
  }
  for (double& one : context) one = std::log1p(64 * one / std::max(pairs, 1.0));
  return context;
}

}  // namespace

TEST_CASE("shape contexts are the histograms that are stated, by the kernel and by LibTorch's operators") {
  // Measured over 1,000 seeds, at most: 4e-15 where 1e-10 is allowed, and 7e-6 where 1e-4 is allowed.
  const at::Tensor points = 0.5 * normal({353, 3}, 21), normals = unit(normal({353, 3}, 22));
  const at::Tensor ptr = at::tensor({0, 300, 300, 301, 353}, at::kLong);  // the first has more points than references
  for (const at::Tensor& with : {normals, at::Tensor()}) {
    const at::Tensor found = shape_context(points, with, ptr);
    REQUIRE(found.sizes() == at::IntArrayRef({353, shape_context_channels(with.defined())}));
    for (const int64_t row : {0, 7, 299, 300, 301, 340, 352}) {
      const int64_t begin = row < 300 ? 0 : row == 300 ? 300 : 301, end = row < 300 ? 300 : row == 300 ? 301 : 353;
      const at::Tensor cloud = points.slice(0, begin, end),
                       its_normals = with.defined() ? with.slice(0, begin, end) : with;
      require_close(found[row], at::tensor(slow_context(cloud, its_normals, row - begin), at::kDouble), 1e-10, "row");
    }
    require_close(composite_shape_context(points, with, ptr), found, 1e-10, "composite");
    require_close(composite_shape_context(points.slice(0, 0, 40), with.defined() ? with.slice(0, 0, 40) : with, {}),
                  shape_context(points.slice(0, 0, 40), with.defined() ? with.slice(0, 0, 40) : with, {}), 1e-10,
                  "one cloud");
    const at::Tensor narrow = with.defined() ? with.to(at::kFloat) : with;
    require_close(shape_context(points.to(at::kFloat), narrow, ptr).to(at::kDouble), found, 1e-4, "float32");
  }
}

TEST_CASE("every pair is counted once in each histogram, and a point without one has zeros") {
  const at::Tensor points = 0.4 * normal({90, 3}, 1), normals = unit(normal({90, 3}, 2));
  const at::Tensor shares = shape_context(points, normals, {}).expm1() / 64;
  require_close(shares.view({90, 3, -1}).sum(2), at::ones({90, 3}, at::kDouble), 1e-12, "shares");
  require_close((shape_context(points, {}, {}).expm1() / 64).sum(1), at::ones({90}, at::kDouble), 1e-12, "shells");
  const at::Tensor alone = points.slice(0, 0, 1);
  require_equal(shape_context(alone, normals.slice(0, 0, 1), {}),
                at::zeros({1, shape_context_channels(true)}, at::kDouble), "alone");
  CHECK(shape_context(points.slice(0, 0, 0), normals.slice(0, 0, 0), {}).sizes() ==
        at::IntArrayRef({0, shape_context_channels(true)}));
}

TEST_CASE("shape contexts are continuous, so that rounding hardly changes them") {
  // Measured over 1,000 seeds, at most: 1.1e-6 where 1e-5 is allowed.
  at::Tensor points = 0.4 * normal({60, 3}, 3);
  const at::Tensor normals = unit(normal({60, 3}, 4));
  points[7] = points[31];                                             // at one place
  points[8] = points[31] + at::tensor({2.0, 0.0, 0.0}, at::kDouble);  // at the last node
  const at::Tensor moved = points + 1e-9 * normal({60, 3}, 5);
  require_close(shape_context(moved, normals, {}), shape_context(points, normals, {}), 1e-5, "moved a little");
}

TEST_CASE("what is not finite stays in its row and in those that see it") {
  at::Tensor points = 0.4 * normal({20, 3}, 6), normals = unit(normal({20, 3}, 7));
  normals[3][1] = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor found = shape_context(points, normals, at::tensor({0, 10, 20}, at::kLong));
  CHECK(found[3].isnan().any().item<bool>());
  CHECK(at::isfinite(found.slice(0, 10)).all().item<bool>());
  points[15][0] = std::numeric_limits<double>::infinity();
  CHECK(at::isfinite(shape_context(points, {}, at::tensor({0, 10, 20}, at::kLong)).slice(0, 0, 10)).all().item<bool>());
}

}  // namespace geosft::test::test_shape_context
