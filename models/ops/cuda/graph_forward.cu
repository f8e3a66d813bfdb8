// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/graph_bias.cuh"

namespace geosft::cuda {
GEOSFT_FORWARD_KERNELS(GraphBiasTraits, float)
GEOSFT_FORWARD_KERNELS(GraphBiasTraits, double)
}  // namespace geosft::cuda
