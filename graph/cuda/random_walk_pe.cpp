// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "graph/cuda/random_walk_host.h"
#include "graph/cuda/random_walk_kernel.cuh"

namespace geosft::cuda {
namespace {

at::Tensor random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight) {
  const Stream stream(rowptr.device());
  return random_walks(rowptr, col, steps, weight,
                      [&](const auto& in) { check_launch(launch_walks(in, stream.get()), "random_walk_pe"); });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("random_walk_pe", random_walk_pe);
}

}  // namespace geosft::cuda
