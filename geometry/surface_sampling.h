// SPDX-License-Identifier: Apache-2.0
// Uniform sampling of points on the surface of a mesh.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "geometry/mesh.h"

namespace geosft {

struct SurfaceSample {
  at::Tensor points;   // [count, 3], in the mesh's unit
  at::Tensor normals;  // [count, 3], unit normals of the faces, on the side where their corners run anti-clockwise
};

// Samples `count` >= 1 independent points, uniform over the surface: a face with a probability proportional to its
// area, then a point in it from two uniform numbers (Osada et al., "Shape distributions", 2002, section 4.2).
// Degenerate faces are never sampled. Points and normals have dtype `dtype`, float32 or float64, whatever that of the
// vertices; computed in float64 and rounded once. Deterministic for a given generator state, with the same bits for any
// number of threads. It takes one mesh, not a packed batch: meshes differ in their vertices and faces, and each has its
// own generator.
// Errors name the mesh's member: vertices that are not float32 or float64 [V, 3] or not finite, faces that are not
// int64 [F, 3], no faces, a face with a row outside [0, V), a mesh of zero area.
SurfaceSample sample_surface(const Mesh& mesh, int64_t count, at::Generator generator,
                             at::ScalarType dtype = at::kFloat);

// Returns the area of the surface in units of length squared: 0 if every face is degenerate, not finite if the vertices
// are too far apart. Computed in float64; errors as above, except that of zero area.
double surface_area(const Mesh& mesh);

}  // namespace geosft
