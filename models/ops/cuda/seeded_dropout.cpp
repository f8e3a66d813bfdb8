// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "models/ops/cuda/dropout_launch.h"
#include "models/ops/cuda/seeded_dropout_host.h"

namespace geosft::cuda {
namespace {

at::Tensor seeded_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  const Stream stream(x.device());
  return masked(x, probability, seed, first,
                [&](const auto& in) { check_launch(launch_dropout(in, stream.get()), "seeded_dropout"); });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_seeded_dropout", seeded_dropout);
}

}  // namespace geosft::cuda
