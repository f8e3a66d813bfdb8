// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_kernels.cuh"

namespace geosft::cuda {
GEOSFT_POLYNOMIAL_KERNELS(PairStage, float)
GEOSFT_POLYNOMIAL_KERNELS(PairStage, double)
}  // namespace geosft::cuda
