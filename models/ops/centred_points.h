// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// The offset of each point from the centroid of its cloud: points [N, 3], floating, packed by ptr (int64 [B + 1] or
// none). The sums have a fixed order.
at::Tensor centred_points(const at::Tensor& points, const std::optional<at::Tensor>& ptr);

}  // namespace geosft
