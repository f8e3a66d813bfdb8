// SPDX-License-Identifier: Apache-2.0
// Computes squared lengths on a GPU with the rounding of the CPU.
#pragma once

#include "geometry/cuda/block.h"

namespace geosft::cuda {

// Computes dx^2 + dy^2 + dz^2 without fused multiply-add, so that the selected rows equal those of the CPU.
template <typename T>
GEOSFT_DEVICE T squared_length(T dx, T dy, T dz) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    return __fadd_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)), __fmul_rn(dz, dz));
  } else {
    return __dadd_rn(__dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)), __dmul_rn(dz, dz));
  }
#else
  return dx * dx + dy * dy + dz * dz;
#endif
}

}  // namespace geosft::cuda
