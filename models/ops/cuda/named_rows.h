// SPDX-License-Identifier: Apache-2.0
// Clamps row indices on the device, since the host does not wait to check them.
#pragma once

#include <ATen/ATen.h>

namespace geosft::cuda {

// Throws if `from` (argument `name`) has no rows although `index` [K] is not empty.
inline void check_any_row(const at::Tensor& index, const at::Tensor& from, const char* name) {
  TORCH_CHECK(from.size(0) > 0 || index.size(0) == 0, name, " must have the rows that top and partner name, but is ",
              from.sizes());
}

// Returns `index` clamped to the rows of `from`: an out-of-range index selects a wrong row instead of causing an
// out-of-bounds access or a device-side assertion, after which the process could no longer use its GPU.
inline at::Tensor named_rows(const at::Tensor& index, const at::Tensor& from, const char* name) {
  check_any_row(index, from, name);
  return index.clamp(0, from.size(0) - 1);
}

}  // namespace geosft::cuda
