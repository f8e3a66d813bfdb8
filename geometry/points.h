// SPDX-License-Identifier: Apache-2.0
// Checks tensors of points, for all functions of this folder.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace geosft {

// Throws an error naming `name` unless the tensor is float32 or float64 of shape [N, 3]. Reads no values.
void check_points(const at::Tensor& points, const char* name);

// Throws an error with both names unless the two tensors have the same dtype and device.
void check_same_kind(const at::Tensor& first, const char* first_name, const at::Tensor& second,
                     const char* second_name);

// Throws an error naming `name` and the first bad row if a coordinate is NaN or infinite. `points` must be contiguous
// and on the CPU.
void check_finite(const at::Tensor& points, const char* name);

// Points of a packed batch, with the name that errors give them.
struct NamedPoints {
  const at::Tensor& points;
  const std::vector<int64_t>& offsets;
  const char* name;
};
// Throws an error with all names if a squared distance between points of one item may overflow in their dtype: if the
// diagonal of the item's bounding box is above 1.8e19 in float32, or 1.3e154 in float64. An item that one of the
// batches has no points of has no distances. The tensors are contiguous, finite, of one dtype and on the CPU.
void check_squared_distances(std::initializer_list<NamedPoints> batches);

}  // namespace geosft
