// SPDX-License-Identifier: Apache-2.0
// Names the types in which kernels read and write tensors.
#pragma once

#include <cstdint>

namespace geosft {

// The type in which the elements of a tensor are stored: the type that kernels compute in (at::OpMathType), or a half
// type, which kernels widen and round.
enum class StorageType : int8_t { opmath, float16, bfloat16 };

}  // namespace geosft
