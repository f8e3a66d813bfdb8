// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/primal_kernels.cuh"

namespace geosft::cuda {
GEOSFT_PRIMAL_KERNELS(float)
}  // namespace geosft::cuda
