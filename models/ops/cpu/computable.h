// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>

namespace geosft {

// Contiguous, and of the type that kernels compute in: float16 and bfloat16 become float32.
inline at::Tensor computable(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const bool floating = tensor.is_floating_point();
  return (floating ? tensor.to(at::toOpMathType(tensor.scalar_type())) : tensor).contiguous();
}

}  // namespace geosft
