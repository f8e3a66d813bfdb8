// SPDX-License-Identifier: Apache-2.0
// A cloud of points in the unit cube, for the tests of geometry.
#pragma once

#include "tests/support.h"

namespace geosft::test {

inline at::Tensor uniform(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  return at::rand({rows, 3}, generator(seed), at::TensorOptions().dtype(dtype));
}

}  // namespace geosft::test
