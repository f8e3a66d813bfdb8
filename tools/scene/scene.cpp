// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

namespace geosft::view {
namespace {

constexpr int tube_sides = 10;
constexpr double gap_share = 0.15;  // gap between two scenes, relative to the wider one

// Returns 1 for equal points.
double extent(const at::Tensor& points) {
  const double largest = (points.amax(0) - points.amin(0)).max().item<double>();
  return largest > 0 ? largest : 1.0;
}

struct Ball {
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<int64_t, 3>> triangles;

  int64_t add(std::array<double, 3> vertex) {
    const double length = std::hypot(vertex[0], vertex[1], vertex[2]);
    for (double& coordinate : vertex) coordinate /= length;
    vertices.push_back(vertex);
    return static_cast<int64_t>(vertices.size()) - 1;
  }
};

Ball octahedron() {
  Ball ball;
  for (const double sign : {1.0, -1.0}) {
    for (int axis = 0; axis < 3; ++axis) {
      std::array<double, 3> vertex = {0, 0, 0};
      vertex[static_cast<size_t>(axis)] = sign;
      ball.add(vertex);
    }
  }
  // Vertices 0, 1, 2 are +x, +y, +z; 3, 4, 5 their opposites. An odd number of negative axes reverses the orientation
  // of a face.
  for (int corner = 0; corner < 8; ++corner) {
    const int64_t x = corner & 1 ? 3 : 0, y = corner & 2 ? 4 : 1, z = corner & 4 ? 5 : 2;
    const bool odd = ((corner & 1) + (corner >> 1 & 1) + (corner >> 2 & 1)) % 2 == 1;
    ball.triangles.push_back(odd ? std::array{x, z, y} : std::array{x, y, z});
  }
  return ball;
}

// Splits every triangle into four and puts the new corners on the sphere.
Ball refined(const Ball& coarse) {
  Ball ball{coarse.vertices, {}};
  std::map<std::pair<int64_t, int64_t>, int64_t> middles;
  const auto middle = [&](int64_t a, int64_t b) {
    const auto [found, fresh] = middles.try_emplace(std::minmax(a, b), 0);
    if (fresh) {
      const auto &p = coarse.vertices[static_cast<size_t>(a)], &q = coarse.vertices[static_cast<size_t>(b)];
      found->second = ball.add({p[0] + q[0], p[1] + q[1], p[2] + q[2]});
    }
    return found->second;
  };
  for (const auto& [a, b, c] : coarse.triangles) {
    const int64_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    for (const auto& part :
         {std::array{a, ab, ca}, std::array{ab, b, bc}, std::array{ca, bc, c}, std::array{ab, bc, ca}})
      ball.triangles.push_back(part);
  }
  return ball;
}

// Repeats the triangles of a shape for n copies with v vertices each: [f, 3] -> [n * f, 3].
at::Tensor repeated_triangles(const at::Tensor& triangles, int64_t copies, int64_t vertices) {
  const at::Tensor first = vertices * at::arange(copies, at::kLong).view({copies, 1, 1});
  return (triangles.unsqueeze(0) + first).reshape({-1, 3});
}

// Returns a unit vector perpendicular to each of directions [n, 3].
at::Tensor perpendicular(const at::Tensor& directions) {
  const at::Tensor smallest = directions.abs().argmin(1, true);
  const at::Tensor axis = at::zeros_like(directions).scatter_(1, smallest, 1.0);
  const at::Tensor side = at::linalg_cross(directions, axis);
  return side / side.norm(2, -1, true);
}

// Returns the cosines and sines of a ring around the origin, [sides, 2].
at::Tensor ring(int sides) {
  const at::Tensor angle = at::arange(sides, at::kDouble) * (2 * std::numbers::pi / sides);
  return at::stack({angle.cos(), angle.sin()}, 1);
}

// Connects the ring vertices 0 … s - 1 at the start of a tube with s … 2 s - 1 at its end.
at::Tensor tube_triangles() {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < tube_sides; ++i) {
    const int64_t next = (i + 1) % tube_sides;
    for (const int64_t row : {i, next, tube_sides + i, next, tube_sides + next, tube_sides + i}) rows.push_back(row);
  }
  return at::tensor(rows, at::kLong).view({-1, 3});
}

}  // namespace

double fitting_radius(const at::Tensor& points) {
  const double share = std::clamp(0.5 / std::sqrt(static_cast<double>(points.size(0))), 0.004, 0.05);
  return share * extent(points);
}

Scene centred(const Scene& scene) {
  const at::Tensor low = scene.points.amin(0), middle = low + (scene.points.amax(0) - low) / 2;
  const double size = extent(scene.points);
  Scene moved = scene;
  moved.points = (scene.points - middle) / size;
  moved.radius = scene.radius / size;
  if (scene.surface) moved.surface->vertices = (scene.surface->vertices - middle) / size;
  if (!scene.markers.centres.defined()) return moved;
  moved.markers.centres = (scene.markers.centres - middle) / size;
  moved.markers.radii = scene.markers.radii / size;
  return moved;
}

Scene side_by_side(const Scene& left, const Scene& right) {
  Scene both = left;
  const double gap = gap_share * std::max(extent(left.points), extent(right.points));
  const at::Tensor shift = at::zeros({1, 3}, at::kDouble);
  shift[0][0] = (left.points.amax(0)[0] - right.points.amin(0)[0]).item<double>() + gap;
  both.points = at::cat({left.points, right.points + shift});
  both.colours = at::cat({left.colours, right.colours});
  if (left.values.defined()) both.values = at::cat({left.values, right.values});
  if (left.normals.defined()) both.normals = at::cat({left.normals, right.normals});
  if (left.edges.defined()) both.edges = at::cat({left.edges, right.edges + left.points.size(0)});
  if (left.edge_lines.defined()) both.edge_lines = at::cat({left.edge_lines, right.edge_lines});
  if (left.markers.centres.defined()) {
    both.markers = {at::cat({left.markers.centres, right.markers.centres + shift}),
                    at::cat({left.markers.radii, right.markers.radii}),
                    at::cat({left.markers.colours, right.markers.colours})};
  }
  return both;
}

ColouredMesh mesh_of_balls(const Balls& balls, int refinements) {
  Ball ball = octahedron();
  for (int i = 0; i < refinements; ++i) ball = refined(ball);
  const auto corners = static_cast<int64_t>(ball.vertices.size());
  const at::Tensor directions = at::from_blob(ball.vertices.data(), {1, corners, 3}, at::kDouble).clone();
  const at::Tensor triangles =
      at::from_blob(ball.triangles.data(), {static_cast<int64_t>(ball.triangles.size()), 3}, at::kLong).clone();
  const int64_t n = balls.centres.size(0);
  const auto spread = [&](const at::Tensor& rows) { return rows.expand({n, corners, 3}).reshape({-1, 3}); };
  return {spread(balls.centres.unsqueeze(1) + balls.radii.view({n, 1, 1}) * directions), spread(directions),
          spread(balls.colours.unsqueeze(1)), repeated_triangles(triangles, n, corners)};
}

ColouredMesh mesh_of_discs(const Balls& discs, const at::Tensor& normals, int corners) {
  const at::Tensor length = normals.norm(2, -1), kept = (length > 0).nonzero().squeeze(1);
  const int64_t n = kept.size(0);
  const at::Tensor across = normals.index_select(0, kept) / length.index_select(0, kept).unsqueeze(1);
  const at::Tensor u = perpendicular(across), v = at::linalg_cross(across, u), circle = ring(corners);
  const at::Tensor rim =
      circle.select(1, 0).view({1, -1, 1}) * u.unsqueeze(1) + circle.select(1, 1).view({1, -1, 1}) * v.unsqueeze(1);
  const auto spread = [&](const at::Tensor& rows) {
    return rows.unsqueeze(1).expand({n, corners, 3}).reshape({-1, 3});
  };
  std::vector<int64_t> fan;  // anticlockwise seen against the normal
  for (int64_t i = 1; i + 1 < corners; ++i) fan.insert(fan.end(), {0, i, i + 1});
  const at::Tensor places = discs.radii.index_select(0, kept).view({n, 1, 1}) * rim;
  return {spread(discs.centres.index_select(0, kept)) + places.reshape({-1, 3}), spread(across),
          spread(discs.colours.index_select(0, kept)),
          repeated_triangles(at::tensor(fan, at::kLong).view({-1, 3}), n, corners)};
}

ColouredMesh mesh_of_edges(const at::Tensor& points, const at::Tensor& edges, double radius, const Colour& colour,
                           double shift, const at::Tensor& widths) {
  const at::Tensor start = points.index_select(0, edges.select(1, 0)), end = points.index_select(0, edges.select(1, 1));
  const at::Tensor along = end - start;
  const at::Tensor kept = (along.norm(2, -1) > 0).nonzero().squeeze(1);  // a self-loop has no direction
  const int64_t n = kept.size(0);
  const at::Tensor direction = along.index_select(0, kept) / along.index_select(0, kept).norm(2, -1, true);
  const at::Tensor u = perpendicular(direction), v = at::linalg_cross(direction, u);
  const at::Tensor circle = ring(tube_sides);
  const at::Tensor outwards =
      circle.select(1, 0).view({1, -1, 1}) * u.unsqueeze(1) + circle.select(1, 1).view({1, -1, 1}) * v.unsqueeze(1);
  at::Tensor rim = radius * outwards + shift * u.unsqueeze(1);
  if (widths.defined()) rim = rim * widths.index_select(0, kept).view({n, 1, 1});
  const at::Tensor vertices =
      at::cat({start.index_select(0, kept).unsqueeze(1) + rim, end.index_select(0, kept).unsqueeze(1) + rim}, 1);
  const at::Tensor paint = at::tensor({colour[0], colour[1], colour[2]}, at::kDouble);
  return {vertices.reshape({-1, 3}), at::cat({outwards, outwards}, 1).reshape({-1, 3}),
          paint.expand({n * 2 * tube_sides, 3}).contiguous(), repeated_triangles(tube_triangles(), n, 2 * tube_sides)};
}

std::vector<ColouredMesh> meshes_of_bonds(const at::Tensor& points, const at::Tensor& edges, const at::Tensor& lines,
                                          double radius, const Colour& colour, const at::Tensor& widths) {
  struct Line {
    double shift, radius;  // relative to the radius of a single line
  };
  static const std::array<std::vector<Line>, 4> kinds = {
      {{{0.0, 1.0}}, {{-1.3, 0.8}, {1.3, 0.8}}, {{-2.0, 0.7}, {0.0, 0.7}, {2.0, 0.7}}, {{-1.3, 0.8}, {1.3, 0.35}}}};
  std::vector<ColouredMesh> meshes;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const at::Tensor rows = (lines == static_cast<int64_t>(kind + 1)).nonzero().squeeze(1);
    if (rows.size(0) == 0) continue;
    for (const Line& line : kinds[kind]) {
      meshes.push_back(mesh_of_edges(points, edges.index_select(0, rows), radius * line.radius, colour,
                                     radius * line.shift, widths.defined() ? widths.index_select(0, rows) : widths));
    }
  }
  return meshes;
}

ColouredMesh joined(const std::vector<ColouredMesh>& meshes) {
  std::vector<at::Tensor> vertices, normals, colours, triangles;
  int64_t before = 0;
  for (const ColouredMesh& mesh : meshes) {
    vertices.push_back(mesh.vertices);
    normals.push_back(mesh.normals);
    colours.push_back(mesh.colours);
    triangles.push_back(mesh.triangles + before);
    before += mesh.vertices.size(0);
  }
  if (meshes.empty()) return {};
  return {at::cat(vertices), at::cat(normals), at::cat(colours), at::cat(triangles)};
}

at::Tensor thinned_rows(const at::Tensor& points, int64_t max_rows) {
  TORCH_CHECK(max_rows >= 1, "max_rows: expected 1 or more, got ", max_rows);
  if (points.size(0) <= max_rows) return at::arange(points.size(0), at::kLong);
  // A surface fills about (extent / cell)^2 cells of a grid.
  const double cell = extent(points) / std::max(std::sqrt(static_cast<double>(max_rows) / 4.0), 1.0);
  const at::Tensor place = ((points - points.amin(0)) / std::max(cell, 1e-30)).to(at::kLong);
  const int64_t side = place.max().item<int64_t>() + 1;
  const at::Tensor key = (place.select(1, 0) * side + place.select(1, 1)) * side + place.select(1, 2);
  const auto [sorted, order] = key.sort(/*stable=*/true, 0, false);
  const at::Tensor first =
      at::cat({at::ones({1}, at::kBool), sorted.slice(0, 1) != sorted.slice(0, 0, -1)}).nonzero().squeeze(1);
  at::Tensor rows = order.index_select(0, first);
  if (rows.size(0) > max_rows)
    rows = rows.index_select(0, at::div(at::arange(max_rows, at::kLong) * rows.size(0), max_rows, "floor"));
  return std::get<0>(rows.sort());
}

}  // namespace geosft::view
