// SPDX-License-Identifier: Apache-2.0
// Registers the operators of this folder for CUDA.
#include "geometry/operators.h"

#include "geometry/cuda/augment_host.h"
#include "geometry/cuda/farthest_point_host.h"
#include "geometry/cuda/knn_host.h"
#include "geometry/cuda/stream.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_augmentation<KernelLauncher>(m);
  implement_farthest_points<KernelLauncher>(m);
  implement_knn<KernelLauncher>(m);
}

}  // namespace geosft::cuda
