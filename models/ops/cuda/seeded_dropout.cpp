// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/seeded_dropout_host.h"

namespace geosft::cuda {
namespace {

at::Tensor seeded_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  return masked(x, probability, seed, first, KernelLauncher(x.device(), "seeded_dropout"));
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_seeded_dropout", seeded_dropout);
}

}  // namespace geosft::cuda
