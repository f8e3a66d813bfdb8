// SPDX-License-Identifier: Apache-2.0
#include "geometry/surface_sampling.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_surface_sampling {
using test::require_close;
using test::require_equal;
using test::require_error;

namespace {

// Two triangles of areas 0.5 (in z = 0, normal +z) and 1.5 (in x = 5, normal +x), and one without area between them.
Mesh two_triangles() {
  return {
      at::tensor({0., 0., 0., 1., 0., 0., 0., 1., 0., 5., 0., 0., 5., 3., 0., 5., 0., 1.}, at::kDouble).view({6, 3}),
      at::tensor({0, 1, 2, 0, 3, 0, 3, 4, 5}, at::kLong).view({3, 3})};
}

}  // namespace

TEST_CASE("surface sampling: faces by area, uniform within a face, normals of the faces") {
  const SurfaceSample sample = sample_surface(two_triangles(), 200000, test::generator(1));
  REQUIRE(sample.points.scalar_type() == at::kFloat);
  const at::Tensor second = sample.points.select(1, 0) == 5;
  // Three quarters of 200,000 points; 7.7 standard deviations.
  require_close(second.to(at::kDouble).mean(), at::scalar_tensor(0.75, at::kDouble), 0.01, "share of the larger face");
  const at::Tensor first_rows = second.logical_not().nonzero().squeeze(1), second_rows = second.nonzero().squeeze(1);
  const at::Tensor first = sample.points.index_select(0, first_rows), last = sample.points.index_select(0, second_rows);
  // A coordinate of a uniform point has the variance s^2 / 18 for a side s: 6.3 deviations of the mean of 50,000 of
  // s = 1, and 9 of 150,000 of s = 3, relative to the largest coordinate.
  require_close(first.mean(0), at::tensor({1 / 3., 1 / 3., 0.}, at::kDouble), 0.02, "centre of the first face");
  require_close(last.mean(0), at::tensor({5., 1., 1 / 3.}, at::kDouble), 0.0033, "centre of the second face");
  // Uniform on a triangle: the largest of the scaled coordinates' sums is 1, a quarter lies in the corner half its
  // size; 7.7 deviations of 50,000 points.
  const at::Tensor corner = (first.select(1, 0) + first.select(1, 1)) < 0.5;
  require_close(corner.to(at::kDouble).mean(), at::scalar_tensor(0.25, at::kDouble), 0.06, "share of the corner");
  // Both are rounded to float32, by 3e-8 at most.
  REQUIRE((first.select(1, 0) + first.select(1, 1)).max().item<double>() <= 1 + 1e-6);
  require_equal(sample.normals.index_select(0, first_rows), at::tensor({0.f, 0.f, 1.f}).expand_as(first), "normals");
  require_equal(sample.normals.index_select(0, second_rows), at::tensor({1.f, 0.f, 0.f}).expand_as(last), "normals");
}

TEST_CASE("surface sampling: the generator decides") {
  const SurfaceSample a = sample_surface(two_triangles(), 50, test::generator(2));
  const SurfaceSample b = sample_surface(two_triangles(), 50, test::generator(2));
  const SurfaceSample c = sample_surface(two_triangles(), 50, test::generator(3));
  require_equal(a.points, b.points, "same seed");
  REQUIRE_FALSE(at::equal(a.points, c.points));
}

TEST_CASE("surface sampling: vertices and samples in either precision") {
  Mesh mesh = two_triangles();
  const at::Tensor exact = mesh.vertices;  // small integers, the same in float32
  for (const at::ScalarType vertices : {at::kFloat, at::kDouble}) {
    mesh.vertices = exact.to(vertices);
    const SurfaceSample wide = sample_surface(mesh, 5000, test::generator(6), at::kDouble);
    REQUIRE(wide.points.scalar_type() == at::kDouble);
    REQUIRE(wide.normals.scalar_type() == at::kDouble);
    const at::Tensor on_first = wide.points.select(1, 2) == 0;
    const at::Tensor on_second = (wide.points.select(1, 0) - 5).abs() < 1e-14;  // eleven steps of doubles near 5
    REQUIRE((on_first | on_second).all().item<bool>());
    REQUIRE_FALSE(at::equal(wide.points.to(at::kFloat).to(at::kDouble), wide.points));
    const SurfaceSample rounded = sample_surface(mesh, 5000, test::generator(6), at::kFloat);
    require_equal(rounded.points, wide.points.to(at::kFloat), "points");
    require_equal(rounded.normals, wide.normals.to(at::kFloat), "normals");
    REQUIRE(surface_area(mesh) == 2.0);
  }
}

TEST_CASE("surface sampling: the number of threads changes nothing") {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const SurfaceSample one = sample_surface(two_triangles(), 20000, test::generator(7));
  at::set_num_threads(2);
  const SurfaceSample two = sample_surface(two_triangles(), 20000, test::generator(7));
  at::set_num_threads(threads);
  require_equal(two.points, one.points, "points");
  require_equal(two.normals, one.normals, "normals");
}

TEST_CASE("surface area: degenerate, tiny and far too large meshes") {
  Mesh mesh = two_triangles();
  mesh.vertices = mesh.vertices * 1e-100;
  REQUIRE(surface_area(mesh) == Approx(2e-200));  // whose square is no double
  mesh.vertices = mesh.vertices * 1e300;
  REQUIRE_FALSE(std::isfinite(surface_area(mesh)));
  mesh = two_triangles();
  mesh.faces = mesh.faces.slice(0, 1, 2);
  REQUIRE(surface_area(mesh) == 0.0);
  mesh.faces = mesh.faces + 3;
  require_error([&] { surface_area(mesh); }, {"faces", "6 vertices"});
}

TEST_CASE("surface sampling: tiny meshes keep unit normals") {
  Mesh mesh = two_triangles();
  mesh.vertices = mesh.vertices * 1e-100;
  const SurfaceSample sample = sample_surface(mesh, 20, test::generator(4));
  require_close(sample.normals.square().sum(1), at::ones({20}), 1e-6, "length");  // an axis: measured, exactly 1
}

TEST_CASE("surface sampling: bad meshes are refused by what is wrong") {
  const auto refused = [](const at::Tensor& vertices, const at::Tensor& faces, int64_t count = 5) {
    return [=] { sample_surface({vertices, faces}, count, test::generator(5)); };
  };
  const Mesh good = two_triangles();
  at::Tensor broken = good.vertices.clone();
  broken[3][1] = std::numeric_limits<double>::quiet_NaN();
  require_error(refused(good.vertices, good.faces, 0), {"count", "0"});
  require_error(refused(good.vertices.to(at::kHalf), good.faces), {"vertices", "float64", "Half"});
  require_error([&] { sample_surface(good, 5, test::generator(5), at::kHalf); }, {"dtype", "float32", "Half"});
  require_error(refused(good.vertices[0], good.faces), {"vertices", "[3]"});
  require_error(refused(good.vertices, good.faces.to(at::kMeta)), {"faces must be on the CPU", "cpu and meta"});
  require_error(refused(at::Tensor(), good.faces), {"vertices", "none"});
  require_error(refused(broken, good.faces), {"vertices", "row 3"});
  require_error(refused(good.vertices * 1e300, good.faces), {"vertices", "area"});
  require_error(refused(good.vertices, at::Tensor()), {"faces", "[F, 3]"});
  require_error(refused(good.vertices, good.faces.to(at::kInt)), {"faces", "int64", "Int"});
  require_error(refused(good.vertices, good.faces.slice(0, 0, 0)), {"faces", "missing"});
  require_error(refused(good.vertices, good.faces + 1), {"faces", "6 vertices", "face 2", "6"});
  require_error(refused(good.vertices, good.faces - 1), {"faces", "face 0", "-1"});
  require_error(refused(good.vertices, good.faces.slice(0, 1, 2)), {"zero area"});
}

}  // namespace geosft::test::test_surface_sampling
