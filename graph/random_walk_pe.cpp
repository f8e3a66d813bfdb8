// SPDX-License-Identifier: Apache-2.0
#include "graph/random_walk_pe.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <limits>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "graph/csr_graph.h"
#include "graph/patch_walker.h"
#include "graph/source_walker.h"
#include "graph/walk_plan.h"

namespace geosft {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::TensorOptions result_options(const at::Tensor& rowptr, const OptionalTensor& weight) {
  return rowptr.options().dtype(given(weight) ? weight->scalar_type() : at::kFloat);
}

template <typename T>
void run_walks(const WalkGraph<T>& graph, int64_t steps, T* out) {
  const WalkPlan plan = plan_walks(graph, steps);
  at::parallel_for(0, static_cast<int64_t>(plan.patches.size()), 16, [&](int64_t begin, int64_t end) {
    PatchWalker<T> together(graph, plan.largest_together);
    SourceWalker<T> alone(graph, plan.largest_alone);
    for (int64_t p = begin; p < end; ++p) {
      const auto& [component, first, apart] = plan.patches[p];
      if (apart) {
        alone.run(component, first, steps, out);
      } else {
        together.run(component, first, steps, out);
      }
    }
  });
}

at::Tensor random_walk_pe_cpu(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                              const OptionalTensor& weight) {
  check_random_walk_pe(rowptr, col, steps, weight);
  const int64_t nodes = rowptr.size(0) - 1;
  TORCH_CHECK(nodes == 0 || steps <= std::numeric_limits<int64_t>::max() / 8 / nodes, "steps = ", steps, " columns of ",
              nodes, " nodes do not fit into memory");
  at::Tensor out = at::empty({nodes, steps}, result_options(rowptr, weight));
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "random_walk_pe", [&] {
    run_walks(prepare_walks<scalar_t>(rowptr, col, weight), steps, out.data_ptr<scalar_t>());
  });
  return out;
}

at::Tensor random_walk_pe_meta(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                               const OptionalTensor& weight) {
  check_random_walk_pe(rowptr, col, steps, weight);
  return at::empty_symint({rowptr.sym_size(0) - 1, steps}, result_options(rowptr, weight));
}

at::Tensor random_walk_pe_autograd(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                                   const OptionalTensor& weight) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return random_walk_pe(rowptr, col, steps, weight);
}

GEOSFT_OPERATORS(m) {
  m.def("random_walk_pe(Tensor rowptr, Tensor col, int steps, Tensor? weight=None) -> Tensor");
  implement_operator<c10::DispatchKey::CPU, c10::DispatchKey::Meta, c10::DispatchKey::Autograd>(
      m, "random_walk_pe", random_walk_pe_cpu, random_walk_pe_meta, random_walk_pe_autograd);
}

}  // namespace

void check_random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight) {
  check_csr_shapes(rowptr, col);
  TORCH_CHECK(col.device() == rowptr.device(), "col must be on the device of rowptr, ", rowptr.device(), ", not ",
              col.device());
  TORCH_CHECK(steps >= 1, "steps must be at least 1, got ", steps);
  if (!given(weight)) return;
  TORCH_CHECK(weight->scalar_type() == at::kFloat || weight->scalar_type() == at::kDouble,
              "weight must be float32 or float64, not ", weight->scalar_type());
  TORCH_CHECK(weight->device() == rowptr.device(), "weight must be on the device of rowptr, ", rowptr.device(),
              ", not ", weight->device());
  TORCH_CHECK(weight->dim() == 1 && weight->sym_size(0) == col.sym_size(0),
              "weight must be [E] with an entry for each of the ", col.sym_size(0), " edges, got shape ",
              weight->sym_sizes());
}

at::Tensor random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight) {
  static const auto op = find_operator<decltype(random_walk_pe)>("random_walk_pe");
  return op.call(rowptr, col, steps, weight);
}

}  // namespace geosft
