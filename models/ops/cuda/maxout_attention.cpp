// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/device.h"
#include "models/ops/cuda/maxout_operator.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_attention<CudaDevice, MaxoutOperator>(m);
}

}  // namespace geosft::cuda
