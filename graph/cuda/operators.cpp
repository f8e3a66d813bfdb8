// SPDX-License-Identifier: Apache-2.0
// Registers the operator of this folder for CUDA.
#include "geometry/cuda/stream.h"
#include "graph/cuda/random_walk_host.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_random_walk_pe<KernelLauncher>(m);
}

}  // namespace geosft::cuda
