// SPDX-License-Identifier: Apache-2.0
// Sums rows by index in a fixed order, like index_add with the same bits in every run.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// Sums rows by index: row s of the result [count, …] is the sum of the rows of x [N, …] whose index [N] is s, int64 in
// [0, count). The order of additions is fixed, so the bits are the same in every run, for any number of threads, and on
// a GPU. Differentiable in x.
at::Tensor deterministic_scatter_sum(const at::Tensor& x, const at::Tensor& index, int64_t count);

}  // namespace geosft
