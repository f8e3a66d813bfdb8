// SPDX-License-Identifier: Apache-2.0
// Estimation of surface normals of point clouds.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

// How the signs of estimated normals are chosen.
//   consistent: alike for neighbours, along the minimum spanning tree of the neighbour graph with edge costs
//     1 - |n_i . n_j| (section 3.3 of the paper below). Each connected component starts at its row farthest from the
//     item's centroid (ties: the lowest row), whose normal points away from the centroid. Right for one closed surface.
//   outward: every normal points away from the centroid, or is perpendicular to that direction. Wrong where a shape is
//     hollow, yet the same for the two sides of a thin wall, between which the tree of `consistent` jumps at random:
//     what a network learns better from (models/README.md).
enum class NormalOrientation { consistent, outward };

// Returns unit normals [N, 3] of a packed batch, in the points' dtype. The normal of a point is the direction of least
// variance of its `neighbours` nearest points, itself included (Hoppe et al., "Surface reconstruction from unorganized
// points", 1992, section 3.2), computed in float64. Rows of an item with equal coordinates are one point, which counts
// once, and have one normal.
//   points [N, 3] float32 or float64, finite; neighbours >= 3; ptr int64 [B + 1]
// Returns some unit vector perpendicular to the neighbours where they do not determine the direction (fewer than 3
// neighbours, collinear points). Deterministic; carries no gradient. Errors name the argument.
at::Tensor estimate_normals(const at::Tensor& points, int64_t neighbours = 16,
                            const std::optional<at::Tensor>& ptr = {},
                            NormalOrientation orientation = NormalOrientation::consistent);

// The planes of neighbourhoods of a cloud.
struct NeighbourPlanes {
  at::Tensor normals;    // float64 [Q, 3], of unit length and either sign
  at::Tensor variances;  // float64 [Q, 3], ascending: the first along the normal; each row in a unit of its own
};
// Fits a plane to the `neighbours` nearest points of some rows of a cloud, themselves and copies included.
//   points [N, 3] float32 or float64, finite, with squared distances that float64 holds; rows int64 [Q], each
//   below N; neighbours >= 3, of which at most N are used
// Deterministic; carries no gradient. Errors name the argument.
NeighbourPlanes neighbour_planes(const at::Tensor& points, const at::Tensor& rows, int64_t neighbours = 16);

// Returns finite normals [..., 3], float32 or float64, scaled to unit length in float64; zeros remain. A normal whose
// length is within 1e-6 of 1 remains as it is: the roundings of float32 are smaller, so that a second call changes
// nothing.
at::Tensor unit_normals(const at::Tensor& normals);

}  // namespace geosft
