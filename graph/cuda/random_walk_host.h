// SPDX-License-Identifier: Apache-2.0
// Converts the tensors of random_walk_pe to the arrays of random_walk_kernel.cuh, for the GPU and its emulation in
// tests. The host reads nothing from the device: indices are not checked, and those outside the graph are ignored.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "geometry/operators.h"
#include "graph/cuda/random_walk_kernel.cuh"
#include "graph/random_walk_pe.h"

namespace geosft::cuda {

// The shortest range of rows around each node that no edge leaves: int64 [N] each, the first row and the one after the
// last.
struct Stretches {
  at::Tensor begin, end;
};
inline Stretches stretches_of(const at::Tensor& rowptr, const at::Tensor& col) {
  const int64_t nodes = rowptr.size(0) - 1;
  const at::Tensor edge = at::arange(col.size(0), col.options()), one = at::ones_like(col);
  const at::Tensor row = (at::searchsorted(rowptr, edge, /*out_int32=*/false, /*right=*/true) - 1).clamp(0, nodes - 1);
  const at::Tensor to = col.clamp(0, nodes - 1);
  // Number of edges across the boundary between rows i and i + 1.
  const at::Tensor above = at::zeros({nodes}, col.options())
                               .index_add(0, at::minimum(row, to), one)
                               .index_add(0, at::maximum(row, to), one, -1)
                               .cumsum(0);
  const at::Tensor node = at::arange(nodes, col.options()), last = above == 0;
  const at::Tensor first = at::cat({at::ones({1}, last.options()), last.slice(0, 0, nodes - 1)});
  const at::Tensor end = at::where(last, node + 1, at::full_like(node, nodes)).flip(0);
  return {std::get<0>(at::where(first, node, at::zeros_like(node)).cummax(0)), std::get<0>(end.cummin(0)).flip(0)};
}

// Plans with 1 GiB of memory, or more if one block needs it for all nodes; four blocks per multiprocessor for short
// stretches.
inline WalkPlan walk_plan(int64_t nodes, int64_t bytes) {
  constexpr int64_t kMemory = int64_t{1} << 30, kBlocks = 4 * 132;
  const int64_t groups = (nodes + kWalkLanes - 1) / kWalkLanes, rows = kMemory / (2 * kWalkLanes * bytes);
  const int64_t blocks = std::min(groups, kBlocks), slice = std::min(nodes, rows / blocks);
  return {blocks, slice, slice < nodes ? std::clamp<int64_t>(rows / nodes, 1, groups) : 0};
}

// Implements geosft::random_walk_pe; run(RandomWalks<T>) runs the kernels, with the default plan unless one is given.
template <class Run>
at::Tensor random_walks(const at::Tensor& rowptr_in, const at::Tensor& col_in, int64_t steps,
                        const std::optional<at::Tensor>& weight_in, const Run& run,
                        std::optional<WalkPlan> plan_in = {}) {
  check_random_walk_pe(rowptr_in, col_in, steps, weight_in);
  const int64_t nodes = rowptr_in.size(0) - 1;
  const at::Tensor rowptr = rowptr_in.contiguous(), col = col_in.contiguous();
  const at::Tensor weight = weight_in.has_value() && weight_in->defined() ? weight_in->contiguous() : at::Tensor();
  const auto options = rowptr.options().dtype(weight.defined() ? weight.scalar_type() : at::kFloat);
  TORCH_CHECK(nodes == 0 || steps <= std::numeric_limits<int64_t>::max() / 8 / nodes, "steps = ", steps, " columns of ",
              nodes, " nodes do not fit into memory");
  const at::Tensor out = at::zeros({nodes, steps}, options);
  if (nodes == 0) return out;
  const Stretches stretches = stretches_of(rowptr, col);
  const WalkPlan plan = plan_in.value_or(walk_plan(nodes, out.element_size()));
  const at::Tensor memory = at::empty({plan.numbers(nodes)}, options), inverse = at::empty({nodes}, options);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "random_walk_pe", [&] {
    run(RandomWalks<scalar_t>{rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(),
                              weight.defined() ? weight.const_data_ptr<scalar_t>() : nullptr, nodes, col.size(0), steps,
                              plan, inverse.mutable_data_ptr<scalar_t>(), stretches.begin.const_data_ptr<int64_t>(),
                              stretches.end.const_data_ptr<int64_t>(), memory.mutable_data_ptr<scalar_t>(),
                              out.mutable_data_ptr<scalar_t>()});
  });
  return out;
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_random_walk_pe(torch::Library& m) {
  m.impl("random_walk_pe",
         [](const at::Tensor& rowptr, const at::Tensor& col, int64_t steps, const std::optional<at::Tensor>& weight) {
           const Launcher launch(rowptr.device(), "random_walk_pe");
           return random_walks(rowptr, col, steps, weight, launch);
         });
}

}  // namespace geosft::cuda
