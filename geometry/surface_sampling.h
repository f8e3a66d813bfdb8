// SPDX-License-Identifier: Apache-2.0
// Uniform points on the surface of a mesh.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "geometry/mesh.h"

namespace geosft {

struct SurfaceSample {
  at::Tensor points;   // [count, 3], in the mesh's unit
  at::Tensor normals;  // [count, 3], unit normals of the faces, on the side where their corners run anti-clockwise
};

// `count` >= 1 independent points, uniform over the surface: a face is drawn with a probability proportional to its
// area, a point in it from two uniform numbers (Osada et al., "Shape distributions", 2002, section 4.2). Degenerate
// faces are never drawn. Points and normals are of `dtype`, float32 or float64, whatever the vertices are of; computed
// in float64, rounded once. Deterministic for a generator's state, the same bits whatever the number of threads. It
// takes one mesh and no packed batch: meshes differ in their vertices and in their faces, and a generator belongs to
// each. Errors name the mesh's part: vertices that are not float32 or float64 [V, 3] or not finite, faces that are not
// int64 [F, 3], no faces, a face with a row outside [0, V), a mesh of zero area.
SurfaceSample sample_surface(const Mesh& mesh, int64_t count, at::Generator generator,
                             at::ScalarType dtype = at::kFloat);

// In units of length squared: 0 where every face is degenerate, not finite where the vertices are too far apart.
// Computed in float64; errors as above, but for the area.
double surface_area(const Mesh& mesh);

}  // namespace geosft
