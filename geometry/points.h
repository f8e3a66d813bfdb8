// SPDX-License-Identifier: Apache-2.0
// Checks tensors of points, for all functions of this folder.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// Throws an error naming `name` unless the tensor is float32 or float64 of shape [N, 3]. Reads no values.
void check_points(const at::Tensor& points, const char* name);

// Throws an error with both names unless the two tensors have the same dtype and device.
void check_same_kind(const at::Tensor& first, const char* first_name, const at::Tensor& second,
                     const char* second_name);

// Throws an error naming `name` and the first bad row if a coordinate is NaN or infinite. `points` must be contiguous
// and on the CPU.
void check_finite(const at::Tensor& points, const char* name);

}  // namespace geosft
