// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "geometry/cuda/block.h"

namespace geosft::cuda {

// Computes dx^2 + dy^2 + dz^2 without fused multiply-add, so that the selected rows equal those of the CPU.
GEOSFT_DEVICE float squared_length(float dx, float dy, float dz) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)), __fmul_rn(dz, dz));
#else
  return dx * dx + dy * dy + dz * dz;
#endif
}
GEOSFT_DEVICE double squared_length(double dx, double dy, double dz) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(__dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)), __dmul_rn(dz, dz));
#else
  return dx * dx + dy * dy + dz * dz;
#endif
}

}  // namespace geosft::cuda
