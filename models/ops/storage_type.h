// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace geosft {

// How numbers lie in memory: of the type that kernels compute in, or of a half type, which they widen and round.
enum class StorageType : int8_t { opmath, float16, bfloat16 };

}  // namespace geosft
