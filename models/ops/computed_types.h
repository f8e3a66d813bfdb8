// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// The types that operators take, as their messages name them: half types are computed in float32.
inline constexpr const char* computed_types = "float32, float64, float16 or bfloat16";

inline bool has_computed_type(const at::Tensor& x) {
  return x.is_floating_point() && x.element_size() >= 2;
}

}  // namespace geosft
