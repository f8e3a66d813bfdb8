// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/point_term.h"

namespace geosft::cuda {
GEOSFT_FORWARD_KERNELS(PointRelation, float)
GEOSFT_FORWARD_KERNELS(PointRelation, double)
}  // namespace geosft::cuda
