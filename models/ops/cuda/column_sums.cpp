// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"
#include "models/ops/cuda/column_sums_host.h"
#include "models/ops/cuda/kernel_launcher.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_column_sums", [](const at::Tensor& a, const at::Tensor& b) {
    return sums_of_columns(a, b, KernelLauncher(a.device(), "column_sums"));
  });
}

}  // namespace geosft::cuda
