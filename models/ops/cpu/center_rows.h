// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace geosft {

// Returns x [N, ...], contiguous, float32 or float64, minus the mean of its item's rows; sums are in double precision.
// The map is its own transpose, so it also computes the backward pass.
at::Tensor centered_rows(const at::Tensor& x, const std::vector<int64_t>& offsets);

}  // namespace geosft
