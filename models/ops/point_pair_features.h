// SPDX-License-Identifier: Apache-2.0
// Computes the point-pair features of neighbours, the input of learned local tokens.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Number of channels of point_pair_features.
inline constexpr int64_t point_pair_channels = 7;

// Computes rotation-invariant features [N, K, point_pair_channels] of each point i and its neighbours j: the point-pair
// features of Drost et al., "Model globally, match locally" (CVPR 2010), the corner between neighbours that follow each
// other around the normal (as in RIConv++, Zhang et al., IJCV 2022), and the place of both in the cloud:
//
//   |d| / r,  n_i . u,  n_j . u,  n_i . n_j,  u . u',  (|p_j| - |p_i|) / r,  p_i . u / |p_i|
//
// with d = p_j - p_i, u = d / |d|, r^2 the mean square of |d| over the neighbours, p relative to the centroid of the
// cloud, and u' the direction of the next neighbour in the order of the angle around n_i.
//   points, normals [N, 3], floating; without normals, the direction from the centroid to the point is the normal
//   index int64 [N, K]: the neighbours of each point, packed rows; -1: no neighbour
//   ptr int64 [B + 1] or none
// A neighbour at the same place as the point, such as the point itself, counts as none. The features of missing
// neighbours repeat those of the first that exists, so the maximum over K is the maximum over the neighbours; they are
// 0 for a point without neighbours. Differentiable once in the points and normals. Errors name the argument.
at::Tensor point_pair_features(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                               const at::Tensor& index, const std::optional<at::Tensor>& ptr = std::nullopt);

// For the kernels.

// Length below which an offset or a normal has no direction.
inline constexpr double smallest_pair_length = 1e-9;
// Checks the arguments without reading values.
void check_point_pairs(const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& index,
                       const std::optional<at::Tensor>& ptr);
// Computes the features by LibTorch's operators, which autograd can differentiate, on any device.
at::Tensor composite_point_pair_features(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                         const at::Tensor& index, const std::optional<at::Tensor>& ptr);

}  // namespace geosft
