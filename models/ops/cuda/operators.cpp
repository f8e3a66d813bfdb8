// SPDX-License-Identifier: Apache-2.0
// Registers the operators of this folder for CUDA, apart from those of an attention bias, whose registration CMake
// generates.
#include "geometry/operators.h"

#include "geometry/cuda/stream.h"
#include "models/ops/cuda/column_sums_host.h"
#include "models/ops/cuda/edge_sum_host.h"
#include "models/ops/cuda/gated_edge_sum_host.h"
#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/cuda/max_pool_host.h"
#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/cuda/primal_host.h"
#include "models/ops/cuda/sample_pairs_host.h"
#include "models/ops/cuda/seeded_dropout_host.h"
#include "models/ops/cuda/softmax_pool_host.h"

namespace geosft::cuda {

GEOSFT_KERNELS(CUDA, m) {
  implement_column_sums<KernelLauncher>(m);
  implement_edge_sum<KernelLauncher>(m);
  implement_gated_edge_sum<KernelLauncher>(m);
  implement_gather_pairs<KernelLauncher>(m);
  implement_max_pool<KernelLauncher>(m);
  implement_polynomial_attention<KernelLauncher>(m);
  implement_primal_attention<KernelLauncher>(m);
  implement_sample_pairs<KernelLauncher>(m);
  implement_seeded_dropout<KernelLauncher>(m);
  implement_softmax_pool<KernelLauncher>(m);
}
GEOSFT_KERNELS(AutogradCUDA, m) {
  implement_gather_pairs_autograd<KernelLauncher>(m);
}

}  // namespace geosft::cuda
