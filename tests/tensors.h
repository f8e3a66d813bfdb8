// SPDX-License-Identifier: Apache-2.0
// Tensors that tests of every folder make.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "tests/support.h"

namespace geosft::test {

// Returns standard normal numbers: the same for every dtype, but for their rounding.
inline at::Tensor normal(at::IntArrayRef shape, uint64_t seed, at::ScalarType dtype = at::kDouble) {
  return at::randn(shape, generator(seed), at::kDouble).to(dtype);
}

inline at::Tensor longs(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// Returns the rows divided by their lengths.
inline at::Tensor unit(const at::Tensor& rows) {
  return rows / rows.norm(2, -1, true);
}

}  // namespace geosft::test
