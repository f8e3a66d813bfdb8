// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// Row s is the sum of those rows of x [N, …] that have the index [N] s, int64 from 0 to count - 1: [count, …]. Added in
// one order, so that the bits are the same every time, on any number of threads, and on a GPU. Differentiable in x.
at::Tensor deterministic_scatter_sum(const at::Tensor& x, const at::Tensor& index, int64_t count);

}  // namespace geosft
