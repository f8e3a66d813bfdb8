// SPDX-License-Identifier: Apache-2.0
// Describes where a point lies in its cloud, by histograms of its pairs with other points.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Nodes of the histograms: of the distance, and of each angle.
inline constexpr int64_t shape_context_shells = 10;
inline constexpr int64_t shape_context_angles = 5;
// Maximum number of points of a cloud, its references, with which each point is paired.
inline constexpr int64_t shape_context_references = 256;

// Returns the number of channels of shape_context.
int64_t shape_context_channels(bool normals);

// Returns shape contexts [N, shape_context_channels] of packed clouds, invariant to rotation and translation: a form of
// Belongie et al., "Shape matching and object recognition using shape contexts", 2002, that needs no frame, with the
// angles of the point-pair features of Drost et al., "Model globally, match locally", 2010.
//   points [N, 3], normals [N, 3] of unit length, or undefined; of one floating dtype. Units: those of a unit ball
//   ptr int64 [B + 1] or none
//
// Point i is paired with the references j of its cloud, itself excepted, at the distance r in the direction u = (p_j -
// p_i) / max(r, 0.01). With normals, three histograms have the distance in shells, and beside it u . n_i, n_i . n_j or
// u . n_j; without, one has the distance alone. A pair is shared between the nearest nodes, linearly: those of the
// distance lie evenly in sqrt(r + 0.0002) from r = 0 to 2, those of an angle evenly from -1 to 1. So contexts are
// continuous in the points, and rounding changes them little. A channel is log(1 + 64 s) with the share s of the pairs
// of point i. A point without a pair has zeros.
//
// The references are m = min(n, shape_context_references) of the n points: rows (k n + m - 1) / m - 1 for k = 1 ... m,
// rounded down. Work is linear in the number of points. Carries no gradient;
// composite_shape_context has one.
at::Tensor shape_context(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr);

// Computes the same by LibTorch's operators, on any device. The reference of the kernel on the CPU.
at::Tensor composite_shape_context(const at::Tensor& points, const at::Tensor& normals,
                                   const std::optional<at::Tensor>& ptr);

}  // namespace geosft
