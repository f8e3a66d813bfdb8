// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/graph_term.h"

namespace geosft::cuda {
GEOSFT_BACKWARD_KERNELS(GraphRelation, float)
GEOSFT_BACKWARD_KERNELS(GraphRelation, double)
}  // namespace geosft::cuda
