// SPDX-License-Identifier: Apache-2.0
// Reads and writes the rows of a tensor that are stored in the type T that kernels compute in or in a half type. Half
// types are widened on read and rounded on write, so no tensor is converted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <type_traits>

#include "models/ops/storage_type.h"

namespace geosft {

// Returns the storage type of a tensor for kernels that compute in T; throws for types that they do not support.
template <typename T>
StorageType storage_of(at::ScalarType type) {
  if constexpr (std::is_same_v<T, float>) {
    if (type == at::kHalf) return StorageType::float16;
    if (type == at::kBFloat16) return StorageType::bfloat16;
  }
  TORCH_CHECK(type == c10::CppTypeToScalarType<T>::value, "a kernel of ", c10::CppTypeToScalarType<T>::value,
              " cannot read ", type);
  return StorageType::opmath;
}

// T is const for read-only access.
template <typename T>
struct RowAccessor {
  template <typename U>
  using Like = std::conditional_t<std::is_const_v<T>, const U, U>;

  Like<void>* data = nullptr;
  int64_t width = 0;  // elements per row
  StorageType storage = StorageType::opmath;

  explicit operator bool() const { return data != nullptr; }
  bool computed() const { return storage == StorageType::opmath; }
  // Requires computed().
  T* at(int64_t row, int64_t column) const { return static_cast<T*>(data) + row * width + column; }

  // Calls f with a pointer of the storage type to the first element.
  template <class F>
  void visit(const F& f) const {
    if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
      if (storage == StorageType::float16) return f(static_cast<Like<c10::Half>*>(data));
      if (storage == StorageType::bfloat16) return f(static_cast<Like<c10::BFloat16>*>(data));
    }
    f(static_cast<T*>(data));
  }
};

// Return accessors to a contiguous tensor; null for an undefined one.
template <typename T>
RowAccessor<const T> stored_rows(const at::Tensor& tensor, int64_t width) {
  if (!tensor.defined()) return {};
  return {tensor.const_data_ptr(), width, storage_of<T>(tensor.scalar_type())};
}
template <typename T>
RowAccessor<T> writable_rows(const at::Tensor& tensor, int64_t width) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr(), width, storage_of<T>(tensor.scalar_type())};
}

}  // namespace geosft
