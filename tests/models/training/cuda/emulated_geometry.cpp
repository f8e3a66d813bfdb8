// SPDX-License-Identifier: Apache-2.0
// The operators of points and graphs on the emulated GPU: see emulated_kernels.cpp.
#include "geometry/cuda/augment_host.h"
#include "geometry/cuda/farthest_point_host.h"
#include "geometry/cuda/knn_host.h"
#include "graph/cuda/random_walk_host.h"
#include "tests/models/training/cuda/emulated_launcher.h"

namespace geosft::test::emulated_gpu {

TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  cuda::implement_augmentation<EmulatedLauncher>(m);
  cuda::implement_farthest_points<EmulatedLauncher>(m);
  cuda::implement_knn<EmulatedLauncher>(m);
  cuda::implement_random_walk_pe<EmulatedLauncher>(m);
}

}  // namespace geosft::test::emulated_gpu
