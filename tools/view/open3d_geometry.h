// SPDX-License-Identifier: Apache-2.0
// Converts a scene to Open3D geometries. Included only by window.cpp.
#pragma once

#include <open3d/geometry/LineSet.h>
#include <open3d/geometry/PointCloud.h>
#include <open3d/geometry/TriangleMesh.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tools/scene/scene.h"

namespace geosft::view {

inline constexpr int64_t max_spheres = 20'000;  // beyond this, points are drawn as squares
// Spheres are refined 4 times for at most so many points, 2 times for more, and once beyond that.
inline constexpr int64_t max_finest_balls = 200, max_fine_balls = 3'000;
inline constexpr int64_t max_discs = 200'000;  // beyond this, points with normals are squares, too
inline constexpr int64_t max_discs_while_moving = 20'000;
inline constexpr int fine_disc_corners = 20, disc_corners = 8;  // of at most as many points as there are fine balls
// Light from everywhere on discs and surfaces, and of the lamps on them and on balls (Open3D's own).
inline constexpr double ambience = 0.35, lamp_power_of_flat = 0.33, lamp_power = 0.66;
inline constexpr int64_t max_points_while_moving = 100'000;  // of a large cloud
inline constexpr int64_t max_tubes = 20'000;                 // beyond this, edges are drawn as lines
inline constexpr Colour edge_colour = {0.62, 0.62, 0.62};

using Geometry = std::shared_ptr<open3d::geometry::Geometry>;

inline std::vector<Eigen::Vector3d> vectors_of(const at::Tensor& rows) {
  const at::Tensor exact = rows.to(at::kDouble).contiguous();
  const auto* first = reinterpret_cast<const Eigen::Vector3d*>(exact.const_data_ptr<double>());
  return {first, first + exact.size(0)};
}

inline Geometry mesh_geometry(const ColouredMesh& mesh) {
  auto made = std::make_shared<open3d::geometry::TriangleMesh>();
  made->vertices_ = vectors_of(mesh.vertices);
  made->vertex_normals_ = vectors_of(mesh.normals);
  made->vertex_colors_ = vectors_of(mesh.colours);
  const at::Tensor triangles = mesh.triangles.to(at::kInt).contiguous();
  const auto* first = reinterpret_cast<const Eigen::Vector3i*>(triangles.const_data_ptr<int>());
  made->triangles_.assign(first, first + triangles.size(0));
  made->ComputeTriangleNormals();  // Open3D does not shade meshes without them
  return made;
}

inline Geometry cloud_geometry(const at::Tensor& points, const at::Tensor& colours) {
  auto made = std::make_shared<open3d::geometry::PointCloud>();
  made->points_ = vectors_of(points);
  made->colors_ = vectors_of(colours);
  return made;
}

inline Geometry line_geometry(const at::Tensor& points, const at::Tensor& edges) {
  auto made = std::make_shared<open3d::geometry::LineSet>();
  made->points_ = vectors_of(points);
  const at::Tensor rows = edges.to(at::kInt).contiguous();
  const auto* first = reinterpret_cast<const Eigen::Vector2i*>(rows.const_data_ptr<int>());
  made->lines_.assign(first, first + rows.size(0));
  made->PaintUniformColor({edge_colour[0], edge_colour[1], edge_colour[2]});
  return made;
}

// Geometries of a scene by when they are drawn: always, only at rest, only while it moves.
struct Geometries {
  std::vector<Geometry> always, at_rest, moving;
  int64_t moving_points = 0;  // those drawn while it moves, if not all
};

// Returns discs at some of the points, as large as the whole cloud's cover the same surface.
inline ColouredMesh discs_at(const Scene& scene, const at::Tensor& rows) {
  const double share = static_cast<double>(rows.size(0)) / static_cast<double>(scene.points.size(0));
  const at::Tensor radii = at::full({rows.size(0)}, scene.radius / std::sqrt(share), at::kDouble);
  const int corners = rows.size(0) <= max_fine_balls ? fine_disc_corners : disc_corners;
  return mesh_of_discs({scene.points.index_select(0, rows), radii, scene.colours.index_select(0, rows)},
                       scene.normals.index_select(0, rows), corners);
}

inline Geometries geometries_of(const Scene& scene) {
  Geometries made;
  std::vector<ColouredMesh> meshes;
  const int64_t points = scene.points.size(0);
  if (scene.surface) {
    meshes.push_back(*scene.surface);
  } else if (scene.normals.defined() && points <= max_discs) {
    const at::Tensor all = at::arange(points, at::kLong), some = thinned_rows(scene.points, max_discs_while_moving);
    auto& kept = points <= max_discs_while_moving ? made.always : made.at_rest;
    kept.push_back(mesh_geometry(discs_at(scene, all)));
    if (points > max_discs_while_moving) made.moving.push_back(mesh_geometry(discs_at(scene, some)));
    made.moving_points = some.size(0);
  } else if (points <= max_spheres) {
    const at::Tensor radii = at::full({points}, scene.radius, at::kDouble);
    meshes.push_back(mesh_of_balls({scene.points, radii, scene.colours}, points <= max_finest_balls ? 4
                                                                         : points <= max_fine_balls ? 2
                                                                                                    : 1));
  } else {
    const at::Tensor rows = thinned_rows(scene.points, max_points_while_moving);
    made.moving_points = rows.size(0);
    made.at_rest.push_back(cloud_geometry(scene.points, scene.colours));
    made.moving.push_back(cloud_geometry(scene.points.index_select(0, rows), scene.colours.index_select(0, rows)));
  }
  if (scene.edges.defined() && scene.edges.size(0) > max_tubes) {
    made.always.push_back(line_geometry(scene.points, scene.edges));
  } else if (scene.edges.defined() && scene.edges.size(0) > 0) {
    const at::Tensor lines = scene.edge_lines.defined() ? scene.edge_lines : at::ones({scene.edges.size(0)}, at::kLong);
    for (ColouredMesh& mesh :
         meshes_of_bonds(scene.points, scene.edges, lines, 0.22 * scene.radius, edge_colour, scene.edge_widths)) {
      meshes.push_back(std::move(mesh));
    }
  }
  if (scene.markers.centres.defined()) meshes.push_back(mesh_of_balls(scene.markers, 2));
  if (!meshes.empty()) made.always.push_back(mesh_geometry(joined(meshes)));
  return made;
}

}  // namespace geosft::view
