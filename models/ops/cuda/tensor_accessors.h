// SPDX-License-Identifier: Apache-2.0
// Returns accessors to contiguous tensors of any floating type for kernels that compute in T; null for undefined
// tensors.
#pragma once

#include <ATen/ATen.h>

#include "models/ops/cpu/row_accessor.h"
#include "models/ops/cuda/accessor.h"

namespace geosft::cuda {

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

inline at::Tensor contiguous(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

}  // namespace geosft::cuda
