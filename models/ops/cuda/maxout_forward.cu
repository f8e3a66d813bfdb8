// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/dense_term.h"

namespace geosft::cuda {
GEOSFT_FORWARD_KERNELS(DenseRelation, float)
GEOSFT_FORWARD_KERNELS(DenseRelation, double)
}  // namespace geosft::cuda
