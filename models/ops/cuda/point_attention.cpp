// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/device.h"
#include "models/ops/cuda/point_operator.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_attention<CudaDevice, PointOperator>(m);
}

}  // namespace geosft::cuda
