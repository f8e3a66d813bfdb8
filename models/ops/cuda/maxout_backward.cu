// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/dense_bias.cuh"

namespace geosft::cuda {
GEOSFT_BACKWARD_KERNELS(DenseBiasTraits, float)
GEOSFT_BACKWARD_KERNELS(DenseBiasTraits, double)
}  // namespace geosft::cuda
