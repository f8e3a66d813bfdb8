// SPDX-License-Identifier: Apache-2.0
// The operators of the emulated GPU: those of a GPU, whose host code sees tensors of a device and whose kernels run
// block by block. So nothing is read from the device without notice, and a captured step has the launches in it.
// Operators that are not here run as the CPU has them.
#include "models/ops/cuda/attention_grid.h"
#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/column_sums_host.h"
#include "models/ops/cuda/edge_sum_host.h"
#include "models/ops/cuda/gated_edge_sum_host.h"
#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/cuda/graph_operator.h"
#include "models/ops/cuda/maxout_operator.h"
#include "models/ops/cuda/point_operator.h"
#include "models/ops/cuda/polynomial_grids.h"
#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/cuda/primal_host.h"
#include "models/ops/cuda/primal_kernels.cuh"
#include "models/ops/cuda/sample_pairs_host.h"
#include "models/ops/cuda/seeded_dropout_host.h"
#include "models/ops/cuda/sequence_operator.h"
#include "models/ops/cuda/softmax_pool_host.h"
#include "models/ops/primal_composition.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::emulated_gpu {
namespace {

using Optional = std::optional<at::Tensor>;
using Two = std::tuple<at::Tensor, at::Tensor>;
using Grids = EmulatedGrids<ThreadOrder::kAscending>;

// What cuda::CudaDevice is to a GPU.
class Device {
 public:
  explicit Device(const at::Device&) {}
  static bool many_rows(int64_t rows, int64_t items, int64_t heads) {
    return cuda::worth_many_rows(rows, items, heads);
  }
  template <class BiasTraits, typename T>
  void forward(const cuda::AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
               const cuda::ForwardTargets<T>& to) const {
    launch([=] { cuda::forward_grids<BiasTraits, T>(problem, bias, to, Grids()); });
  }
  template <class BiasTraits, typename T>
  void backward(const cuda::AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                const cuda::BackwardTargets<T>& to) const {
    launch([=] { cuda::backward_grids<BiasTraits, T>(problem, bias, to, Grids()); });
  }
};

struct GatherLauncher {
  GatherLauncher(const at::Device&, const char* /*op*/) {}
  template <class Call>
  void operator()(const Call& in) const {
    launch([in] { cuda::run_grids(in, Grids()); });
  }
};

const auto run_grids_here = [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); };

at::Tensor edge_forward(const at::Tensor& x, const Optional& edge, const Optional& scale, const at::Tensor& rowptr,
                        const at::Tensor& col, bool relu) {
  return cuda::edge_sum_forward(x, edge, scale, rowptr, col, relu, run_grids_here);
}

Two edge_backward(const at::Tensor& grad, const at::Tensor& x, const Optional& edge, const Optional& scale,
                  const at::Tensor& row, const at::Tensor& colptr, const at::Tensor& order, bool relu) {
  return cuda::edge_sum_backward(grad, x, edge, scale, row, colptr, order, relu, run_grids_here);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_forward(const at::Tensor& query, const at::Tensor& key,
                                                             const at::Tensor& value, const at::Tensor& edge,
                                                             const at::Tensor& rowptr, const at::Tensor& col) {
  return cuda::gated_sum_forward(query, key, value, edge, rowptr, col, run_grids_here);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> gated_backward(
    const at::Tensor& out_grad, const at::Tensor& gate_grad, const at::Tensor& out, const at::Tensor& gate,
    const at::Tensor& total, const at::Tensor& value, const at::Tensor& rowptr, const at::Tensor& col,
    const at::Tensor& row, const at::Tensor& colptr, const at::Tensor& order) {
  return cuda::gated_sum_backward(out_grad, gate_grad, out, gate, total, value, {rowptr, col, row, colptr, order},
                                  run_grids_here);
}

at::Tensor column_sums_here(const at::Tensor& a, const at::Tensor& b) {
  return cuda::sums_of_columns(a, b, run_grids_here);
}

Two pool_forward(const at::Tensor& x, const at::Tensor& u, const Optional& ptr) {
  return cuda::pool_forward(x, u, ptr, [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); });
}

Two pool_backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& log_sum, const at::Tensor& x,
                  const at::Tensor& u, const Optional& ptr) {
  return cuda::pool_backward(grad, out, log_sum, x, u, ptr,
                             [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); });
}

at::Tensor dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  return cuda::masked(x, probability, seed, first,
                      [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> select_pairs(const at::Tensor& score, int64_t k,
                                                                        const Optional& ptr, bool noise,
                                                                        bool random_partner, const Optional& seeds,
                                                                        int64_t bins) {
  return cuda::draw(score, ptr, seeds, {noise, random_partner, false, k, bins},
                    [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> draw_with_replacement(const at::Tensor& score, int64_t k,
                                                                                 const Optional& ptr,
                                                                                 const at::Tensor& seeds,
                                                                                 int64_t bins) {
  return cuda::draw(score, ptr, seeds, {true, false, true, k, bins},
                    [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); });
}

const auto run_polynomial = [](auto stage, const auto& task) {
  launch([stage, task] { cuda::polynomial_grids(stage, task, Grids()); });
};

Two polynomial_forward(const PolynomialArguments& a) {
  return cuda::polynomial_forward(a, cuda::known_offsets(a), run_polynomial);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> polynomial_backward(const at::Tensor& grad, const at::Tensor& out,
                                                                   const at::Tensor& denominator,
                                                                   const PolynomialArguments& a) {
  return cuda::polynomial_backward(grad, out, denominator, a, cuda::known_offsets(a), run_polynomial);
}

const auto run_primal = [](const auto& in) { launch([in] { cuda::run_grids(in, Grids()); }); };

Two primal_forward(const PrimalArguments& a) {
  return cuda::has_primal_kernels(a) ? cuda::primal_forward(a, run_primal) : composed_primal_forward(a);
}

std::vector<at::Tensor> primal_backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                        const PrimalArguments& a) {
  return cuda::has_primal_kernels(a) ? cuda::primal_backward(grad, out, normalizer, a, run_primal)
                                     : composed_primal_gradients(grad, a);
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  cuda::implement_attention<Device, cuda::MaxoutOperator>(m);
  cuda::implement_attention<Device, cuda::PointOperator>(m);
  cuda::implement_attention<Device, cuda::GraphOperator>(m);
  cuda::implement_attention<Device, cuda::SequenceOperator>(m);
  m.impl("gather_pairs", cuda::gather_pairs_on<GatherLauncher>);
  m.impl("_edge_sum_forward", edge_forward);
  m.impl("_edge_sum_backward", edge_backward);
  m.impl("_gated_edge_sum_forward", gated_forward);
  m.impl("_gated_edge_sum_backward", gated_backward);
  m.impl("_column_sums", column_sums_here);
  m.impl("_softmax_pool_forward", pool_forward);
  m.impl("_softmax_pool_backward", pool_backward);
  m.impl("_seeded_dropout", dropout);
  m.impl("_draw_pairs", select_pairs);
  m.impl("_draw_pairs_with_replacement", draw_with_replacement);
  m.impl("_pair_weight", cuda::pair_weight_composite);
  m.impl("_pair_weight_backward", cuda::pair_weight_backward_composite);
  m.impl("_polynomial_attention_forward", polynomial_forward_kernel<polynomial_forward>);
  m.impl("_polynomial_attention_backward", polynomial_backward_kernel<polynomial_backward>);
  m.impl("_primal_attention_forward", primal_forward_kernel<primal_forward>);
  m.impl("_primal_attention_backward", primal_backward_kernel<primal_backward>);
}
TORCH_LIBRARY_IMPL(geosft, AutogradHPU, m) {
  m.impl("gather_pairs", cuda::differentiable_gather_pairs<GatherLauncher>);
}

}  // namespace geosft::test::emulated_gpu
