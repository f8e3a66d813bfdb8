// SPDX-License-Identifier: Apache-2.0
// Lists the grids of an attention call in order, for launches on a GPU and for the emulation on the CPU.
#pragma once

#include <cstdint>

#include "models/ops/cuda/attention_backward_kernel.cuh"
#include "models/ops/cuda/attention_forward_kernel.cuh"

namespace geosft::cuda {

// run.grid<Kernel>(blocks, heads, arguments) calls Kernel::run(block, arguments) for each of the blocks x heads blocks.
template <class BiasTraits, typename T, class Run>
void forward_grids(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                   const ForwardTargets<T>& to, Run&& run) {
  with_forward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), p.many_queries, [&](auto size) {
    using Kernel = ForwardKernel<T, BiasTraits, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Kernel>(tile_blocks(p.queries.rows, p.queries.items, Kernel::kTile), p.heads, {p, bias, to});
  });
}

template <class BiasTraits, typename T, RowKind kRowKind, class Run>
void backward_grid(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                   const BackwardTargets<T>& to, Run&& run) {
  const PackedRows& rows = kRowKind == RowKind::kQuery ? p.queries : p.keys;
  const bool many = kRowKind == RowKind::kQuery ? p.many_queries : p.many_keys;
  with_backward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), many, [&](auto size) {
    using Kernel = BackwardKernel<T, BiasTraits, kRowKind, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Kernel>(tile_blocks(rows.rows, rows.items, Kernel::kTile), p.heads, {p, bias, to});
  });
}

template <class BiasTraits, typename T, class Run>
void backward_grids(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                    const BackwardTargets<T>& to, Run&& run) {
  const int64_t blocks = (p.queries.rows * p.heads + kThreads - 1) / kThreads;
  if (blocks > 0) run.template grid<GradOutputKernel<T>>(blocks, 1, {p, to});
  BiasTraits::template each_pass<RowKind::kQuery>(
      bias, [&](const auto& pass) { backward_grid<BiasTraits, T, RowKind::kQuery>(p, pass, to, run); });
  BiasTraits::template each_pass<RowKind::kKey>(
      bias, [&](const auto& pass) { backward_grid<BiasTraits, T, RowKind::kKey>(p, pass, to, run); });
}

template <class BiasTraits, typename T, class Run>
void run_grids(const AttentionForwardCall<BiasTraits, T>& call, Run&& run) {
  BiasTraits::template choose<BiasTraits>(
      call.bias, [&](auto types) { forward_grids<decltype(types), T>(call.problem, call.bias, call.to, run); });
}
template <class BiasTraits, typename T, class Run>
void run_grids(const AttentionBackwardCall<BiasTraits, T>& call, Run&& run) {
  BiasTraits::template choose<BiasTraits>(
      call.bias, [&](auto types) { backward_grids<decltype(types), T>(call.problem, call.bias, call.to, run); });
}

}  // namespace geosft::cuda
