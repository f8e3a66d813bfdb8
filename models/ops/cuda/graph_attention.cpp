// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/device.h"
#include "models/ops/cuda/graph_operator.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_attention<CudaDevice, GraphOperator>(m);
}

}  // namespace geosft::cuda
