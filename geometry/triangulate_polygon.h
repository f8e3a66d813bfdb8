// SPDX-License-Identifier: Apache-2.0
// Triangulation of the polygonal faces of meshes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace geosft {

// Splits a polygon of n >= 3 corners into n - 2 triangles of its corners, as indices into `corners`. The corners lie in
// a plane, or nearly so, and the triangles have the orientation of the polygon.
//   The fan of corner 0 is returned where it covers the polygon, as for every convex one. Any other polygon is split by
// ear clipping (Meisters, "Polygons have ears", 1975) in its plane. A hole is joined to the outer boundary by an edge
// that the polygon runs along twice. Triangles may have area 0 where corners are collinear.
//   The fan is also returned for polygons without a triangulation (edges that cross, area 0, coordinates that are not
// finite) and where ear clipping takes too long (thousands of corners). Throws an error for fewer than 3 corners.
std::vector<std::array<int64_t, 3>> triangulate_polygon(const std::vector<std::array<double, 3>>& corners);

}  // namespace geosft
