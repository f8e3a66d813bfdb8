// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/scene.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_scene {
using namespace view;
namespace {

at::Tensor doubles(at::IntArrayRef shape, uint64_t seed) {
  return at::randn(shape, generator(seed), at::kDouble);
}

// Normals of the triangles by their corners' order, not normalised.
at::Tensor facets(const view::ColouredMesh& mesh) {
  const auto corner = [&](int64_t i) { return mesh.vertices.index_select(0, mesh.triangles.select(1, i)); };
  return at::linalg_cross(corner(1) - corner(0), corner(2) - corner(0));
}

Scene scene_of_cloud(const at::Tensor& points) {
  Scene scene;
  scene.points = points;
  scene.colours = at::rand({points.size(0), 3}, at::kDouble);
  scene.values = points.select(1, 1);
  scene.radius = 0.1;
  return scene;
}

}  // namespace

TEST_CASE("balls are closed, round, coloured, and face outwards") {
  const Balls balls{doubles({5, 3}, 1), at::linspace(0.1, 0.5, 5, at::kDouble), doubles({5, 3}, 5).sigmoid()};
  const view::ColouredMesh mesh = mesh_of_balls(balls, 2);
  REQUIRE(mesh.vertices.size(0) == 5 * 66);  // V = 4^r 4 + 2
  REQUIRE(mesh.triangles.size(0) == 5 * 128);
  const at::Tensor ball = at::arange(5, at::kLong).repeat_interleave(66);
  const at::Tensor off = mesh.vertices - balls.centres.index_select(0, ball);
  require_close(off.norm(2, 1), balls.radii.index_select(0, ball), 1e-12, "radii");
  require_close(off / off.norm(2, 1, true), mesh.normals, 1e-12, "normals");
  require_equal(mesh.colours, balls.colours.index_select(0, ball), "colours");
  const at::Tensor outwards = mesh.normals.index_select(0, mesh.triangles.select(1, 0));
  CHECK(((facets(mesh) * outwards).sum(1) > 0).all().item<bool>());
}

TEST_CASE("discs lie across their normals, and face along them") {
  const Balls discs{doubles({4, 3}, 3), at::linspace(0.1, 0.4, 4, at::kDouble), doubles({4, 3}, 6).sigmoid()};
  at::Tensor normals = doubles({4, 3}, 4);
  normals[2].zero_();  // no direction, no disc
  const view::ColouredMesh mesh = mesh_of_discs(discs, normals, 6);
  REQUIRE(mesh.vertices.size(0) == 3 * 6);
  REQUIRE(mesh.triangles.size(0) == 3 * 4);
  const at::Tensor disc = at::tensor({0, 1, 3}, at::kLong).repeat_interleave(6);
  const at::Tensor off = mesh.vertices - discs.centres.index_select(0, disc), across = normals.index_select(0, disc);
  require_close(off.norm(2, 1), discs.radii.index_select(0, disc), 1e-12, "radii");
  require_close((off * across).sum(1), at::zeros({18}, at::kDouble), 1e-12, "height over the disc");
  require_close(mesh.normals, across / across.norm(2, 1, true), 1e-12, "normals");
  require_equal(mesh.colours, discs.colours.index_select(0, disc), "colours");
  const at::Tensor outwards = mesh.normals.index_select(0, mesh.triangles.select(1, 0));
  CHECK(((facets(mesh) * outwards).sum(1) > 0).all().item<bool>());
}

TEST_CASE("edges are tubes of their radius around the line between their ends") {
  const at::Tensor points = doubles({6, 3}, 2);
  const at::Tensor edges = at::tensor({0, 1, 4, 2, 3, 3}, at::kLong).view({3, 2});  // the last one is a self-loop
  const view::ColouredMesh mesh = mesh_of_edges(points, edges, 0.05, {0.2, 0.4, 0.6});
  REQUIRE(mesh.vertices.size(0) == 2 * 20);
  const at::Tensor first = mesh.vertices.narrow(0, 0, 20), along = points[1] - points[0];
  const at::Tensor distance = at::linalg_cross(first - points[0], along.expand_as(first)).norm(2, 1) / along.norm();
  require_close(distance, at::full({20}, 0.05, at::kDouble), 1e-12, "distance from the line");
  const at::Tensor outwards = mesh.normals.index_select(0, mesh.triangles.select(1, 0));
  CHECK(((facets(mesh) * outwards).sum(1) > 0).all().item<bool>());
}

TEST_CASE("bonds are drawn by one to three parallel tubes, aromatic ones by a full and a thin one") {
  const at::Tensor points = doubles({5, 3}, 2);
  const at::Tensor edges = at::tensor({0, 1, 1, 2, 2, 3, 3, 4}, at::kLong).view({4, 2});
  const at::Tensor lines = at::tensor({1, 2, 3, 4}, at::kLong);
  const std::vector<view::ColouredMesh> meshes = meshes_of_bonds(points, edges, lines, 0.05, {0.2, 0.4, 0.6});
  REQUIRE(meshes.size() == 1 + 2 + 3 + 2);
  require_equal(meshes[0].vertices, mesh_of_edges(points, edges.narrow(0, 0, 1), 0.05, {0, 0, 0}).vertices, "single");
  // The lines of the triple bond lie evenly around that of its atoms.
  const auto middle = [&](size_t mesh) { return meshes[mesh].vertices.mean(0); };
  require_close(middle(4), (points[2] + points[3]) / 2, 1e-12, "middle line");
  require_close(middle(3) + middle(5), points[2] + points[3], 1e-12, "outer lines");
  REQUIRE((middle(3) - middle(4)).norm().item<double>() == Approx(2 * 0.05));
}

TEST_CASE("edges may have widths of their own, and so have the gaps between lines of a bond") {
  const at::Tensor points = doubles({3, 3}, 2);
  const at::Tensor edges = at::tensor({0, 1, 1, 2}, at::kLong).view({2, 2}),
                   widths = at::tensor({1.0, 3.0}, at::kDouble);
  const view::ColouredMesh mesh = mesh_of_edges(points, edges, 0.05, {0, 0, 0}, 0.0, widths);
  const int64_t each = mesh.vertices.size(0) / 2;
  require_close(mesh.vertices.narrow(0, each, each),
                mesh_of_edges(points, edges.narrow(0, 1, 1), 0.15, {0, 0, 0}).vertices, 1e-12, "second");
  const at::Tensor twice = at::tensor({2, 2}, at::kLong);
  const std::vector<view::ColouredMesh> lines = meshes_of_bonds(points, edges, twice, 0.05, {0, 0, 0}, widths);
  const auto gap = [&](int64_t edge) {
    return (lines[0].vertices.narrow(0, edge * each, each) - lines[1].vertices.narrow(0, edge * each, each))
        .mean(0)
        .norm()
        .item<double>();
  };
  CHECK(gap(1) == Approx(3 * gap(0)));
}

TEST_CASE("joined meshes keep their triangles") {
  const view::ColouredMesh ball =
      mesh_of_balls({at::zeros({1, 3}, at::kDouble), at::ones({1}, at::kDouble), at::ones({1, 3}, at::kDouble)}, 0);
  const view::ColouredMesh both = joined({ball, ball});
  require_equal(both.triangles.narrow(0, 8, 8), ball.triangles + 6, "second");
  CHECK(both.vertices.size(0) == 12);
  CHECK_FALSE(joined({}).vertices.defined());
}

TEST_CASE("scenes beside each other do not overlap, and rows of the second come after the first's") {
  Scene left = scene_of_cloud(doubles({10, 3}, 3)), right = scene_of_cloud(doubles({10, 3}, 4));
  left.edges = right.edges = at::tensor({0, 1}, at::kLong).view({1, 2});
  left.markers =
      right.markers = {left.points.narrow(0, 0, 1), at::ones({1}, at::kDouble), at::ones({1, 3}, at::kDouble)};
  const Scene both = side_by_side(left, right);
  REQUIRE(both.points.size(0) == 20);
  CHECK((both.points.narrow(0, 10, 10).amin(0)[0] > left.points.amax(0)[0]).item<bool>());
  require_close(both.points.narrow(0, 10, 10).narrow(1, 1, 2), right.points.narrow(1, 1, 2), 1e-12, "y and z");
  require_equal(both.edges[1], at::tensor({10, 11}, at::kLong), "edges");
  CHECK(both.markers.centres.size(0) == 2);
  CHECK(both.values.size(0) == 20);
}

TEST_CASE("a large cloud is thinned to few points that lie everywhere") {
  const at::Tensor points = at::rand({50'000, 3}, generator(5), at::kDouble);
  const at::Tensor rows = thinned_rows(points, 2000);
  CHECK(rows.size(0) <= 2000);
  CHECK(rows.size(0) > 500);
  CHECK((rows.diff() > 0).all().item<bool>());
  const at::Tensor kept = points.index_select(0, rows);
  CHECK(kept.amax(0).min().item<double>() > 0.9);
  CHECK(kept.amin(0).max().item<double>() < 0.1);
  CHECK(thinned_rows(points.narrow(0, 0, 100), 2000).size(0) == 100);
  CHECK(thinned_rows(at::zeros({3000, 3}, at::kDouble), 2000).size(0) == 1);
  require_error([&] { thinned_rows(points, 0); }, {"max_rows"});
}

TEST_CASE("a scene is drawn around the origin, wherever its file has it and however large it is there") {
  const at::Tensor points = at::rand({30, 3}, generator(7), at::kDouble);
  const auto drawn = [](const at::Tensor& rows) {
    Scene scene = scene_of_cloud(rows);
    scene.radius = fitting_radius(rows);
    const at::Tensor marked = rows.slice(0, 0, 2);
    scene.markers = {marked, at::full({marked.size(0)}, 2 * scene.radius, at::kDouble), at::ones_like(marked)};
    return centred(scene);
  };
  const Scene near = drawn(points);
  CHECK((near.points.amax(0) - near.points.amin(0)).max().item<double>() == Approx(1.0));
  require_close(near.points.amax(0), -near.points.amin(0), 1e-12, "around the origin");
  require_equal(near.markers.centres, near.points.narrow(0, 0, 2), "markers");
  for (const auto& [scale, offset] : {std::pair{1.0, 1e5}, {1.0, 5e6}, {1e-9, 0.0}, {1e20, 0.0}, {1e20, 1e21}}) {
    CAPTURE(scale, offset);
    const Scene scene = drawn(points * scale + offset);
    require_close(scene.points, near.points, 1e-8, "points");
    require_close(scene.markers.centres, near.markers.centres, 1e-8, "markers");
    CHECK(scene.radius == Approx(near.radius));
    require_close(scene.markers.radii, near.markers.radii, 1e-8, "radii");
  }
  for (const int64_t rows : {1, 5}) {
    const Scene equal = drawn(at::full({rows, 3}, 694386.5, at::kDouble));
    require_equal(equal.points, at::zeros({rows, 3}, at::kDouble), "equal points");
    CHECK(equal.radius > 0.01);
  }
}

TEST_CASE("balls are smaller where there are more") {
  CHECK(fitting_radius(doubles({10, 3}, 6)) > fitting_radius(doubles({10'000, 3}, 6)));
  CHECK(fitting_radius(at::zeros({3, 3}, at::kDouble)) > 0);
}

}  // namespace geosft::test::test_scene
