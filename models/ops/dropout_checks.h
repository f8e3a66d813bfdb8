// SPDX-License-Identifier: Apache-2.0
// What the kernels of dropout check of what they are called with.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <limits>

#include "models/ops/opmath.h"

namespace geosft {

// `first`: the place of the first of the elements of x.
inline void check_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  TORCH_CHECK(is_supported_float(x), "x must be ", supported_floats, ", not ", x.scalar_type());
  TORCH_CHECK(probability >= 0 && probability < 1, "probability must be in [0, 1), got ", probability);
  TORCH_CHECK(seed.scalar_type() == at::kLong && seed.numel() == 1, "seed must be int64 with one element, got ",
              seed.scalar_type(), " ", seed.sizes());
  TORCH_CHECK(seed.device() == x.device(), "seed must be on the device of x, ", x.device(), ", not ", seed.device());
  const int64_t count = x.numel();
  constexpr int64_t room = 64;  // places are rounded up to whole groups
  TORCH_CHECK(first >= 0 && first <= std::numeric_limits<int64_t>::max() - room - count,
              "first must be 0 or more, and leave room for ", count, " places, got ", first);
}

}  // namespace geosft
