// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/surface.h"

#include <cmath>
#include <numbers>

#include "data/read_file.h"
#include "geometry/knn.h"

namespace geosft::view {
namespace {

constexpr double longest_edge = 1.0 / 50.0;                     // relative to the extent
constexpr int64_t max_degree = 256;                             // corners of a vertex whose normals are averaged
const double crease = std::cos(40.0 * std::numbers::pi / 180);  // cosine of the angle of a sharp edge

at::Tensor unit(const at::Tensor& vectors) {
  return vectors / vectors.norm(2, -1, true).clamp_min(1e-300);
}

// Normals of triangles [F, 3, 3], as long as twice their areas: [F, 3].
at::Tensor face_normals(const at::Tensor& corners) {
  const at::Tensor first = corners.select(1, 0);
  return at::linalg_cross(corners.select(1, 1) - first, corners.select(1, 2) - first);
}

// Returns for each corner [F, 3, 3] the mean normal, weighted by area, of the faces at its vertex that differ from its
// own face by less than the crease. A vertex of many faces keeps their own normals.
at::Tensor corner_normals(const at::Tensor& normals, const at::Tensor& faces, int64_t vertices) {
  const at::Tensor vertex = faces.reshape({-1}), order = vertex.argsort(/*stable=*/true, 0, false);
  const at::Tensor face = order.div(3, "floor"), sorted = vertex.index_select(0, order);
  const at::Tensor count = at::bincount(sorted, {}, vertices), begin = count.cumsum(0) - count;
  const at::Tensor each = normals.index_select(0, face), flat = unit(each);
  const at::Tensor degree = count.index_select(0, sorted), kept = (degree <= max_degree).nonzero().squeeze(1);
  // Pairs of a corner and each corner of its vertex.
  const at::Tensor pairs = degree.index_select(0, kept), first = kept.repeat_interleave(pairs);
  const at::Tensor place = at::arange(first.size(0), at::kLong) - (pairs.cumsum(0) - pairs).repeat_interleave(pairs);
  const at::Tensor second = begin.index_select(0, sorted.index_select(0, first)) + place;
  const at::Tensor alike = (flat.index_select(0, first) * flat.index_select(0, second)).sum(1) > crease;
  const at::Tensor near = each.index_select(0, second) * alike.unsqueeze(1);
  const at::Tensor sums = flat.index_fill(0, kept, 0.0).index_add(0, first, near);
  return at::empty_like(sums).index_copy(0, order, unit(sums)).view({-1, 3, 3});
}

// Splits triangles of corners [F, 3, c] into four by the middles of their edges.
at::Tensor split(const at::Tensor& triangles) {
  const at::Tensor a = triangles.select(1, 0), b = triangles.select(1, 1), c = triangles.select(1, 2);
  const at::Tensor ab = (a + b) / 2, bc = (b + c) / 2, ca = (c + a) / 2;
  return at::cat(
      {at::stack({a, ab, ca}, 1), at::stack({ab, b, bc}, 1), at::stack({ca, bc, c}, 1), at::stack({ab, bc, ca}, 1)});
}

// Returns for each triangle whether its longest edge is longer than `limit`.
at::Tensor is_long(const at::Tensor& triangles, double limit) {
  const at::Tensor places = triangles.narrow(2, 0, 3);
  return ((places - places.roll(1, 1)).norm(2, -1).amax(1) > limit);
}

}  // namespace

std::optional<geosft::Mesh> read_surface(const std::filesystem::path& file, const ShapeReadOptions& options) {
  const FileShape shape = parse_shape(read_file(file), file.string(), options);
  if (!shape.is_mesh()) return std::nullopt;
  return shape.mesh;
}

Surface fine_surface(const geosft::Mesh& mesh, const at::Tensor& points, int64_t max_faces) {
  const at::Tensor vertices = mesh.vertices.to(at::kDouble);
  const at::Tensor normals = face_normals(vertices.index_select(0, mesh.faces.reshape({-1})).view({-1, 3, 3}));
  const at::Tensor kept = (normals.norm(2, -1) > 0).nonzero().squeeze(1);
  TORCH_CHECK(kept.size(0) > 0, "mesh: expected a triangle with an area, found none among ", mesh.faces.size(0));
  const at::Tensor faces = mesh.faces.index_select(0, kept);
  const at::Tensor corners = vertices.index_select(0, faces.reshape({-1})).view({-1, 3, 3});
  at::Tensor triangles = at::cat({corners, corner_normals(normals.index_select(0, kept), faces, vertices.size(0))}, 2);
  const double limit = longest_edge * (vertices.amax(0) - vertices.amin(0)).max().item<double>();
  for (;;) {
    const at::Tensor wide = is_long(triangles, limit);
    const auto count = wide.sum().item<int64_t>();
    if (count == 0 || triangles.size(0) + 3 * count > max_faces) break;
    const at::Tensor narrow = triangles.index_select(0, wide.logical_not().nonzero().squeeze(1));
    triangles = at::cat({narrow, split(triangles.index_select(0, wide.nonzero().squeeze(1)))});
  }
  Surface surface;
  surface.corners = triangles.narrow(2, 0, 3).reshape({-1, 3});
  surface.normals = unit(triangles.narrow(2, 3, 3)).reshape({-1, 3});
  surface.nearest = std::get<0>(knn(points.to(at::kDouble), surface.corners, 1)).squeeze(1);
  return surface;
}

}  // namespace geosft::view
