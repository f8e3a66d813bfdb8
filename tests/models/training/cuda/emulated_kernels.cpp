// SPDX-License-Identifier: Apache-2.0
// The operators of the emulated GPU: those of a GPU, whose host code sees tensors of a device and whose kernels run
// block by block. So nothing is read from the device without notice, and a captured step has the launches in it.
// Operators that are not here run as the CPU has them.
#include "geometry/operators.h"
#include "models/ops/cuda/attention_kernels.cuh"
#include "models/ops/cuda/column_sums_host.h"
#include "models/ops/cuda/dense_bias.cuh"
#include "models/ops/cuda/edge_sum_host.h"
#include "models/ops/cuda/gated_edge_sum_host.h"
#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/cuda/graph_bias.cuh"
#include "models/ops/cuda/max_pool_host.h"
#include "models/ops/cuda/point_bias.cuh"
#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/cuda/primal_host.h"
#include "models/ops/cuda/primal_kernels.cuh"
#include "models/ops/cuda/sample_pairs_host.h"
#include "models/ops/cuda/seeded_dropout_host.h"
#include "models/ops/cuda/sequence_bias.cuh"
#include "models/ops/cuda/softmax_pool_host.h"
#include "tests/models/training/cuda/emulated_launcher.h"

namespace geosft::test::emulated_gpu {

TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  cuda::implement_attention<EmulatedLauncher, cuda::DenseOperator>(m);
  cuda::implement_attention<EmulatedLauncher, cuda::PointOperator>(m);
  cuda::implement_attention<EmulatedLauncher, cuda::GraphOperator>(m);
  cuda::implement_attention<EmulatedLauncher, cuda::SequenceOperator>(m);
  cuda::implement_column_sums<EmulatedLauncher>(m);
  cuda::implement_edge_sum<EmulatedLauncher>(m);
  cuda::implement_gated_edge_sum<EmulatedLauncher>(m);
  cuda::implement_gather_pairs<EmulatedLauncher>(m);
  cuda::implement_max_pool<EmulatedLauncher>(m);
  cuda::implement_polynomial_attention<EmulatedLauncher>(m);
  cuda::implement_primal_attention<EmulatedLauncher>(m);
  cuda::implement_sample_pairs<EmulatedLauncher>(m);
  cuda::implement_seeded_dropout<EmulatedLauncher>(m);
  cuda::implement_softmax_pool<EmulatedLauncher>(m);
}
TORCH_LIBRARY_IMPL(geosft, AutogradHPU, m) {
  cuda::implement_gather_pairs_autograd<EmulatedLauncher>(m);
}

}  // namespace geosft::test::emulated_gpu
