// SPDX-License-Identifier: Apache-2.0
// Computes the input tokens of point-cloud models.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

namespace geosft {

enum class PointTokens {
  ones,            // a constant: the paper's rotation-invariant mode, whose only input is the relative encoding
  radial,          // 1, distance to the centroid, cosine between the normal and the direction from the centroid
  local,           // radial, and shape descriptors of each point's neighbourhood at two scales
  shape_context,   // local, and where each point lies in its cloud (models/ops/shape_context.h)
  ppf,             // local, and learned descriptors of the same neighbourhoods (models/layers/point_pair_tokens.h)
  absolute,        // coordinates and normals: not invariant
  absolute_local,  // absolute, then local: not invariant either
};

// Returns the number of channels of point_tokens, which are those of `local` for `ppf`: the learned ones follow them.
int64_t point_token_channels(PointTokens kind, bool normals);

// Returns the tokens [N, point_token_channels] of packed clouds: points and normals [N, 3] (normals may be undefined),
// ptr int64 [B + 1] or none. All kinds except the absolute ones are invariant to rotation and translation.
// Differentiable once in the points and normals: the gradient of the others is that of composite_point_tokens, whose
// neighbours are constant.
//
// A neighbourhood of K points (8 and 32, itself included) with offsets d_j = p_j - p_i, r^2 their mean square, is
// described by: r; |mean d| / r (0 inside a surface, large at its edges); the trace of C^2 and the determinant of
// C = mean(d d^T) / r^2 (line, surface or volume); and with normals the mean and the spread of m_i . m_j and of
// m_i . d_j / r (curvature). The neighbourhoods are appended to `neighbourhoods`, if that is not null: int64 [N, 8] and
// [N, 32], packed rows, -1 beyond a cloud's points.
at::Tensor point_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                        const std::optional<at::Tensor>& ptr, std::vector<at::Tensor>* neighbourhoods = nullptr);

// Computes ones, radial, local and shape_context by LibTorch's operators, which autograd can differentiate, on any
// device. The reference of point_tokens.
at::Tensor composite_point_tokens(PointTokens kind, const at::Tensor& points, const at::Tensor& normals,
                                  const std::optional<at::Tensor>& ptr);

// Computes the descriptors of the neighbourhoods index int64 [N, 32] by LibTorch's operators, on any device: [N, 2 *
// channels of one]. The reference of the kernel on the CPU.
at::Tensor composite_neighbourhoods(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& index);

}  // namespace geosft
