// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"
#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/cuda/kernel_launcher.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  m.impl("gather_pairs", gather_pairs_on<KernelLauncher>);
}
GEOSFT_KERNELS(AutogradCUDA, m) {
  m.impl("gather_pairs", differentiable_gather_pairs<KernelLauncher>);
}

}  // namespace geosft::cuda
