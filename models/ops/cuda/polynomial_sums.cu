// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_kernels.cuh"

namespace geosft::cuda {
GEOSFT_POLYNOMIAL_KERNELS(MonomialTableStage, float)
GEOSFT_POLYNOMIAL_KERNELS(MonomialTableStage, double)
GEOSFT_POLYNOMIAL_KERNELS(MonomialSumStage, float)
GEOSFT_POLYNOMIAL_KERNELS(MonomialSumStage, double)
}  // namespace geosft::cuda
