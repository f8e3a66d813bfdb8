// SPDX-License-Identifier: Apache-2.0
// Converts a scene to Open3D geometries. Included only by window.cpp.
#pragma once

#include <open3d/geometry/LineSet.h>
#include <open3d/geometry/PointCloud.h>
#include <open3d/geometry/TriangleMesh.h>

#include <memory>
#include <vector>

#include "tools/view/scene.h"

namespace geosft::view {

inline constexpr int64_t max_spheres = 20'000;               // beyond this, points are drawn as squares
inline constexpr int64_t finest_balls = 3'000;               // beyond this, spheres are coarser
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
};

inline Geometries geometries_of(const Scene& scene) {
  Geometries made;
  std::vector<ColouredMesh> meshes;
  const int64_t points = scene.points.size(0);
  if (scene.surface) {
    meshes.push_back(*scene.surface);
  } else if (points <= max_spheres) {
    const at::Tensor radii = at::full({points}, scene.radius, at::kDouble);
    meshes.push_back(mesh_of_balls({scene.points, radii, scene.colours}, points <= finest_balls ? 2 : 1));
  } else {
    const at::Tensor rows = thinned_rows(scene.points, max_points_while_moving);
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
