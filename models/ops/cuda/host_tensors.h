// SPDX-License-Identifier: Apache-2.0
// Helps the host code of the CUDA operators with tensors: accessors for kernels that compute in T, and
// row indices clamped on the device, since the host does not wait to check them.
#pragma once

#include <ATen/ATen.h>

#include "models/ops/cpu/row_accessor.h"
#include "models/ops/cuda/accessor.h"
#include "models/ops/opmath.h"

namespace geosft::cuda {

// Return accessors to contiguous tensors of any floating type, null for undefined tensors.
template <typename T>
Accessor<const T> stored(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.const_data_ptr(), storage_of<T>(tensor.scalar_type())};
}
template <typename T>
Accessor<T> storable(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr(), storage_of<T>(tensor.scalar_type())};
}

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
