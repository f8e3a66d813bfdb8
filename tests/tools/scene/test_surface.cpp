// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/surface.h"

#include <catch2/catch.hpp>

#include "geometry/surface_sampling.h"
#include "tests/support.h"

namespace geosft::test::test_surface {
using namespace view;
namespace {

// A unit square in the plane z = 0, folded up by `angle` along y = 1: two squares, four triangles.
Mesh folded(double angle) {
  const double y = 1 + std::cos(angle), z = std::sin(angle);
  return {at::tensor({0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0., 0., y, z, 1., y, z}, at::kDouble).view({6, 3}),
          at::tensor({0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4}, at::kLong).view({4, 3})};
}

double area(const Surface& surface) {
  return surface_area({surface.corners, at::arange(surface.corners.size(0), at::kLong).view({-1, 3})});
}

}  // namespace

TEST_CASE("a fine surface has the area of its mesh, short edges, and the nearest points") {
  const Mesh mesh = folded(1.0);
  const at::Tensor points = sample_surface(mesh, 50, generator(1)).points.to(at::kDouble);
  const Surface surface = fine_surface(mesh, points);
  REQUIRE(area(surface) == Approx(2));
  const at::Tensor corners = surface.corners.view({-1, 3, 3});
  REQUIRE((corners - corners.roll(1, 1)).norm(2, -1).max().item<double>() <= 2.0 / 50);
  const at::Tensor expected = at::cdist(surface.corners, points).argmin(1);
  require_equal(surface.nearest, expected, "nearest");
  require_close(surface.normals.norm(2, 1), at::ones({surface.normals.size(0)}, at::kDouble), 1e-12, "length");
}

TEST_CASE("a surface is split no further than to its largest number of triangles") {
  const Surface surface = fine_surface(folded(1.0), at::zeros({1, 3}, at::kDouble), 20);
  REQUIRE(surface.corners.size(0) == 3 * 16);
  REQUIRE(area(surface) == Approx(2));
}

TEST_CASE("normals are smooth over flat edges and follow the faces at sharp ones") {
  const auto spread = [](double angle) {
    const Surface surface = fine_surface(folded(angle), at::zeros({1, 3}, at::kDouble), 4);
    const at::Tensor first = surface.normals.narrow(0, 0, 3);  // of one triangle
    return (first - first[0]).abs().max().item<double>();
  };
  REQUIRE(spread(1.5) < 1e-12);
  REQUIRE(spread(0.3) > 0.05);
}

TEST_CASE("triangles without an area are left out, and a mesh without others is refused") {
  Mesh mesh = folded(1.0);
  mesh.faces = at::cat({mesh.faces, at::tensor({0, 0, 1}, at::kLong).view({1, 3})});
  REQUIRE(area(fine_surface(mesh, at::zeros({1, 3}, at::kDouble))) == Approx(2));
  mesh.faces = mesh.faces.narrow(0, 4, 1);
  require_error([&] { fine_surface(mesh, at::zeros({1, 3}, at::kDouble)); }, {"mesh", "area"});
}

}  // namespace geosft::test::test_surface
