// SPDX-License-Identifier: Apache-2.0
// Reads the surface of a mesh file and prepares it for drawing: fine triangles that take the colours of the nearest
// points.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "data/formats/shape_file.h"
#include "geometry/mesh.h"

namespace geosft::view {

// Returns the mesh of a file, or nullopt for a cloud. Throws DataError.
std::optional<geosft::Mesh> read_surface(const std::filesystem::path& file, const ShapeReadOptions& options);

// Triangles one after the other: three rows per triangle, nothing shared.
struct Surface {
  at::Tensor corners;  // double [3 F, 3]
  at::Tensor normals;  // double [3 F, 3], of unit length; smooth but for edges sharper than 40 degrees
  at::Tensor nearest;  // int64 [3 F], the nearest of the points
};

// Splits each triangle whose longest edge exceeds a fiftieth of the extent into four, repeatedly, so that colours of
// points can vary within it, while there are at most `max_faces` triangles. points: double [n, 3], in the coordinates
// of the mesh. Triangles without an area are left out; throws c10::Error if none is left.
Surface fine_surface(const geosft::Mesh& mesh, const at::Tensor& points, int64_t max_faces = 100'000);

}  // namespace geosft::view
