// SPDX-License-Identifier: Apache-2.0
// Normalization of clouds: the centroid moves to the origin, and the cloud may be scaled to the unit ball.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

struct NormalizedPoints {
  at::Tensor points;    // [N, 3], dtype of the input: (p - centroid) / scale
  at::Tensor centroid;  // float64 [B, 3], the mean of the item's rows; 0 for an empty item
  at::Tensor scale;  // float64 [B], the largest distance from the centroid, in the input's unit; 0: all rows are equal
};

// Moves the centroid of each item of the packed batch to the origin and scales its largest distance to 1. Items whose
// rows are all equal become zeros. `points` [N, 3] float32 or float64, finite. Computed in float64 and rounded once, so
// a rotated cloud gives the rotated result to the last digits of its dtype. Carries no gradient. Errors name the
// argument.
NormalizedPoints normalize(const at::Tensor& points, const std::optional<at::Tensor>& ptr = {});

// Returns the offset of each point from the centroid of its cloud: points [N, 3], floating, packed by ptr (int64 [B +
// 1] or none), on any device. Differentiable in the points. The sums have a fixed order.
at::Tensor centred_points(const at::Tensor& points, const std::optional<at::Tensor>& ptr);

}  // namespace geosft
