// SPDX-License-Identifier: Apache-2.0
#include "geometry/triangulate_polygon.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "geometry/mesh.h"
#include "geometry/rotation.h"
#include "geometry/surface_sampling.h"
#include "tests/support.h"

namespace geosft::test::test_triangulate_polygon {
namespace {

using Corners = std::vector<std::array<double, 3>>;
using Triangles = std::vector<std::array<int64_t, 3>>;

Corners flat(const std::vector<std::array<double, 2>>& places) {
  Corners corners;
  for (const auto& [x, y] : places) corners.push_back({x, y, 0});
  return corners;
}

at::Tensor rows_of(const Corners& corners) {
  at::Tensor rows = at::empty({static_cast<int64_t>(corners.size()), 3}, at::kDouble);
  for (size_t i = 0; i < corners.size(); ++i) {
    for (size_t axis = 0; axis < 3; ++axis)
      rows[static_cast<int64_t>(i)][static_cast<int64_t>(axis)] = corners[i][axis];
  }
  return rows;
}

Corners corners_of(const at::Tensor& rows) {
  Corners corners;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    corners.push_back({rows[i][0].item<double>(), rows[i][1].item<double>(), rows[i][2].item<double>()});
  }
  return corners;
}

double area_of(const Corners& corners) {
  const Triangles triangles = triangulate_polygon(corners);
  REQUIRE(triangles.size() == corners.size() - 2);
  at::Tensor faces = at::empty({static_cast<int64_t>(triangles.size()), 3}, at::kLong);
  for (size_t i = 0; i < triangles.size(); ++i) {
    for (size_t j = 0; j < 3; ++j) {
      REQUIRE(triangles[i][j] >= 0);
      REQUIRE(triangles[i][j] < static_cast<int64_t>(corners.size()));
      faces[static_cast<int64_t>(i)][static_cast<int64_t>(j)] = triangles[i][j];
    }
  }
  return surface_area(Mesh{rows_of(corners), faces});
}

// The area from every first corner, in both directions, turned in space and far from the origin.
void require_area(const Corners& polygon, double area) {
  Corners corners = polygon;
  const at::Tensor turned = rotate(rows_of(polygon), random_rotation(generator(3), at::kDouble));
  for (size_t first = 0; first < polygon.size(); ++first) {
    CAPTURE(first);
    REQUIRE(area_of(corners) == Approx(area));
    REQUIRE(area_of({corners.rbegin(), corners.rend()}) == Approx(area));
    std::rotate(corners.begin(), corners.begin() + 1, corners.end());
  }
  REQUIRE(area_of(corners_of(turned)) == Approx(area));
  REQUIRE(area_of(corners_of(turned * 1e-6)) == Approx(area * 1e-12));
  // Coordinates of 1e6 are rounded by 5.8e-11. The other bounds are those of Approx, 1.2e-5 of the area.
  REQUIRE(area_of(corners_of(turned + 1e6)) == Approx(area).epsilon(1e-6));
}

Triangles fan_of(int64_t corners) {
  Triangles triangles;
  for (int64_t i = 2; i < corners; ++i) triangles.push_back({0, i - 1, i});
  return triangles;
}

const Corners u_shape = flat({{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}});

}  // namespace

TEST_CASE("concave polygons are covered exactly once") {
  require_area(u_shape, 5);
  require_area(flat({{0, 0}, {4, -3}, {4, 0}, {4, 3}}), 12);  // a triangle with a collinear corner
  require_area(flat({{0, 0}, {2, -4}, {5, 0}, {2, 4}}), 20);  // convex
  require_area(flat({{2, 0}, {0, -3}, {4, 0}, {0, 3}}), 6);   // a dart
  require_area(flat({{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}}), 5);
  require_area(flat({{0, 0}, {6, 0}, {6, 3}, {5, 3}, {5, 1}, {4, 1}, {4, 3}, {2, 3}, {2, 1}, {1, 1}, {1, 3}, {0, 3}}),
               14);
}

TEST_CASE("a hole is joined to the boundary by an edge that runs there and back") {
  require_area(flat({{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}, {1, 1}, {1, 2}, {2, 2}, {2, 1}, {1, 1}}), 8);
  // Two holes, joined to the same corner.
  require_area(flat({{0, 0},
                     {7, 0},
                     {7, 3},
                     {0, 3},
                     {0, 0},
                     {1, 1},
                     {1, 2},
                     {2, 2},
                     {2, 1},
                     {1, 1},
                     {0, 0},
                     {4, 1},
                     {4, 2},
                     {6, 2},
                     {6, 1},
                     {4, 1}}),
               18);
}

TEST_CASE("a star, a comb and a spiral of many corners") {
  Corners star, spiral, inner;
  constexpr int tips = 40;
  for (int i = 0; i < 2 * tips; ++i) {
    const double angle = std::numbers::pi * i / tips, radius = i % 2 == 0 ? 1.0 : 0.3;
    star.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
  }
  require_area(star, tips * 0.3 * std::sin(std::numbers::pi / tips));
  double area = 0;
  for (int i = 0; i <= 60; ++i) {
    const double angle = 0.3 * i;
    spiral.push_back({(1 + angle) * std::cos(angle), (1 + angle) * std::sin(angle), 0});
    inner.push_back({(0.5 + angle) * std::cos(angle), (0.5 + angle) * std::sin(angle), 0});
  }
  spiral.insert(spiral.end(), inner.rbegin(), inner.rend());
  for (size_t i = 0; i < spiral.size(); ++i) {
    const auto &a = spiral[i], &b = spiral[(i + 1) % spiral.size()];
    area += (a[0] * b[1] - a[1] * b[0]) / 2;
  }
  REQUIRE(area_of(spiral) == Approx(std::abs(area)));
}

TEST_CASE("convex polygons, and those that a fan covers, keep the fan of their first corner") {
  Corners circle;
  for (int i = 0; i < 30; ++i) circle.push_back({std::cos(0.2 * i), 2.0, std::sin(0.2 * i)});
  REQUIRE((triangulate_polygon(circle) == fan_of(30)));
  REQUIRE((triangulate_polygon(flat({{0, 0}, {1, 0}, {1, 1}, {0, 1}})) == fan_of(4)));
  REQUIRE((triangulate_polygon(flat({{0, 0}, {1, 0}, {2, 1e-9}, {3, 0}, {3, 1}, {0, 1}})) == fan_of(6)));  // rounded
  REQUIRE((triangulate_polygon(flat({{2, 0}, {0, -3}, {4, 0}, {0, 3}})) == fan_of(4)));  // a dart, from its notch
  REQUIRE((triangulate_polygon({{0, 0, 0}, {1, 0, 0.1}, {1, 1, 0}, {0, 1, 0.1}}) == fan_of(4)));  // not quite flat
}

TEST_CASE("polygons without a triangulation become fans") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE((triangulate_polygon(flat({{1, 1}, {1, 1}, {1, 1}, {1, 1}})) == fan_of(4)));
  REQUIRE((triangulate_polygon(flat({{0, 0}, {1, 1}, {2, 2}, {5, 5}, {3, 3}})) == fan_of(5)));
  REQUIRE((triangulate_polygon(flat({{0, 0}, {1, 0}, {0, nan}, {0, 1}})) == fan_of(4)));
  REQUIRE((triangulate_polygon(flat({{0, 0}, {1, 1}, {1, 0}, {0, 1}})) == fan_of(4)));  // edges that cross, area 0
  REQUIRE((triangulate_polygon({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}) == fan_of(3)));
  require_error([] { triangulate_polygon({{0, 0, 0}, {1, 0, 0}}); }, {"at least 3", "2"});
}

}  // namespace geosft::test::test_triangulate_polygon
