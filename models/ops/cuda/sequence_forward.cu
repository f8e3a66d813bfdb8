// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/sequence_bias.cuh"

namespace geosft::cuda {
GEOSFT_FORWARD_KERNELS(SequenceBiasTraits, float)
GEOSFT_FORWARD_KERNELS(SequenceBiasTraits, double)
}  // namespace geosft::cuda
