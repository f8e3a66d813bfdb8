// SPDX-License-Identifier: Apache-2.0
// Turns clouds into a pose of their own, which does not depend on the pose that they come in.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

struct PosedClouds {
  at::Tensor points;   // float64 [N, 3]
  at::Tensor normals;  // float64 [N, 3], or undefined
};

// Rotates each item of the packed batch about the origin, and its normals with it, so that the row farthest from its
// centroid lies in the direction of +x seen from there, and the row farthest from that axis in the half plane of x and
// +y. Of squared distances that differ by at most 1e-13 of the largest, the lowest row counts. Axes that the item
// leaves open (one row, equal or collinear rows) are chosen by its coordinates. `points` [N, 3] float32 or float64,
// finite, and `normals` [N, 3] or undefined, in float64 throughout.
//
// Rotated copies of a cloud get the same coordinates to about 1e-16 of its size; those below 1e-13 of it become 0.
// Rounded to float32 afterwards they are nearly always equal in every bit, so that a model which is invariant in exact
// arithmetic makes the same choices for both: no near-tie is decided by the rounding of the pose. Copies that were
// rounded in their own pose, as files hold them, keep that rounding. Carries no gradient; CPU only. Errors name the
// argument.
PosedClouds canonical_pose(const at::Tensor& points, const at::Tensor& normals = {},
                           const std::optional<at::Tensor>& ptr = {});

}  // namespace geosft
