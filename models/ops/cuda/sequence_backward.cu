// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/sequence_term.h"

namespace geosft::cuda {
GEOSFT_BACKWARD_KERNELS(SequenceRelation, float)
GEOSFT_BACKWARD_KERNELS(SequenceRelation, double)
}  // namespace geosft::cuda
