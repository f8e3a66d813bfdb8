// SPDX-License-Identifier: Apache-2.0
// Rotations of space as 3 x 3 matrices that act on columns: p' = R p.
#pragma once

#include <ATen/ATen.h>

#include <array>

namespace geosft {

// Returns a random rotation [3, 3], uniform over SO(3): a unit quaternion from four normal numbers (Marsaglia 1972).
at::Tensor random_rotation(at::Generator generator, at::ScalarType dtype = at::kFloat);

// Returns the rotation [3, 3] by `angle` radians about `axis` (of any non-zero length), anti-clockwise when the axis
// points at the viewer (Rodrigues' formula). Leaves the coordinate of an axis of coordinates as it is. Throws an error
// naming axis or angle if it is not finite or the axis is zero.
at::Tensor axis_rotation(const std::array<double, 3>& axis, double angle, at::ScalarType dtype = at::kFloat);

// Rotates every row p of `points` [N, 3] (or of normals) to R p; differentiable in points. `rotation` [3, 3] must have
// the points' dtype and be a rotation: R^T R = 1 to 1e-4 (float32) or 1e-10 (float64), determinant 1. Errors name the
// argument.
at::Tensor rotate(const at::Tensor& points, const at::Tensor& rotation);

}  // namespace geosft
