// SPDX-License-Identifier: Apache-2.0
// Lists the grids of an attention call in order, for launches on a GPU and for the emulation on the CPU.
#pragma once

#include <cstdint>

#include "models/ops/cuda/attention_backward_kernel.cuh"
#include "models/ops/cuda/attention_forward_kernel.cuh"

namespace geosft::cuda {

// run.grid<Tile>(slots, heads, arguments) calls Tile::run(block, arguments) for each of the slots x heads blocks.
template <class BiasTraits, typename T, class Run>
void forward_grids(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                   const ForwardTargets<T>& to, Run&& run) {
  with_forward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), p.many_queries, [&](auto size) {
    using Tile = ForwardTile<T, BiasTraits, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Tile>(tile_slots(p.queries.rows, p.queries.items, Tile::kTile), p.heads, {p, bias, to});
  });
}

template <class BiasTraits, typename T, Side kSide, class Run>
void backward_grid(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                   const BackwardTargets<T>& to, Run&& run) {
  const PackedRows& own = kSide == Side::kQuery ? p.queries : p.keys;
  const bool many = kSide == Side::kQuery ? p.many_queries : p.many_keys;
  with_backward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), many, [&](auto size) {
    using Tile = BackwardTile<T, BiasTraits, kSide, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Tile>(tile_slots(own.rows, own.items, Tile::kTile), p.heads, {p, bias, to});
  });
}

template <class BiasTraits, typename T, class Run>
void backward_grids(const AttentionArrays<T>& p, const typename BiasTraits::template Arrays<T>& bias,
                    const BackwardTargets<T>& to, Run&& run) {
  const int64_t blocks = (p.queries.rows * p.heads + kThreads - 1) / kThreads;
  if (blocks > 0) run.template grid<GradOutputTile<T>>(blocks, 1, {p, to});
  BiasTraits::template each_pass<Side::kQuery>(
      bias, [&](const auto& pass) { backward_grid<BiasTraits, T, Side::kQuery>(p, pass, to, run); });
  BiasTraits::template each_pass<Side::kKey>(
      bias, [&](const auto& pass) { backward_grid<BiasTraits, T, Side::kKey>(p, pass, to, run); });
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
