// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// What every backend of farthest_point_sampling can check without the values of points and ptr.
void check_farthest_point_arguments(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                    int64_t start);

}  // namespace geosft
