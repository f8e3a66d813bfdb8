// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/point_bias.cuh"

namespace geosft::cuda {
GEOSFT_BACKWARD_KERNELS(PointBiasTraits, float)
GEOSFT_BACKWARD_KERNELS(PointBiasTraits, double)
}  // namespace geosft::cuda
