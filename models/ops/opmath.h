// SPDX-License-Identifier: Apache-2.0
// Defines the floating types that operators take, and the type that their kernels compute in: half types are widened to
// float32, as in at::OpMathType. Reads tensors for kernels.
#pragma once

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>

namespace geosft {

// The supported types, as named in error messages.
inline constexpr const char* supported_floats = "float32, float64, float16 or bfloat16";

inline bool is_supported_float(const at::Tensor& x) {
  return x.is_floating_point() && x.element_size() >= 2;
}

// Returns the tensor, contiguous. Undefined tensors stay undefined.
inline at::Tensor contiguous(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

// Return pointers to the elements of a contiguous tensor of type T, null for an undefined tensor.
template <typename T>
const T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}
template <typename T>
T* target(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr;
}

// Returns the tensor, contiguous and, if floating, converted to the type that kernels compute in. Undefined tensors
// stay undefined.
inline at::Tensor opmath_contiguous(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const bool floating = tensor.is_floating_point();
  return (floating ? tensor.to(at::toOpMathType(tensor.scalar_type())) : tensor).contiguous();
}

}  // namespace geosft
