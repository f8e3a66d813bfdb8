// SPDX-License-Identifier: Apache-2.0
// The grids of blocks that make up a call, in turn: one list for launches on a GPU and for the emulation on the CPU.
#pragma once

#include <cstdint>

#include "models/ops/cuda/attention_backward_tile.h"
#include "models/ops/cuda/attention_forward_tile.h"
#include "models/ops/cuda/attention_sizes.h"

namespace geosft::cuda {

// run.grid<Tile>(slots, heads, arguments): a block for each of slots x heads, Tile::run(block, arguments).
template <class Relation, typename T, class Run>
void forward_grids(const AttentionArrays<T>& p, const typename Relation::template Arrays<T>& relation,
                   const ForwardTargets<T>& to, Run&& run) {
  with_forward_size<T, Relation::kManyRows>(widest(p.c, p.cv), p.many_queries, [&](auto size) {
    using Tile = ForwardTile<T, Relation, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Tile>(tile_slots(p.queries.rows, p.queries.items, Tile::kTile), p.heads, {p, relation, to});
  });
}

template <class Relation, typename T, Side kSide, class Run>
void backward_grid(const AttentionArrays<T>& p, const typename Relation::template Arrays<T>& relation,
                   const BackwardTargets<T>& to, Run&& run) {
  const PackedRows& own = kSide == Side::kQuery ? p.queries : p.keys;
  const bool many = kSide == Side::kQuery ? p.many_queries : p.many_keys;
  with_backward_size<T, Relation::kManyRows>(widest(p.c, p.cv), many, [&](auto size) {
    using Tile = BackwardTile<T, Relation, kSide, decltype(size)::kWidth, decltype(size)::kRows>;
    run.template grid<Tile>(tile_slots(own.rows, own.items, Tile::kTile), p.heads, {p, relation, to});
  });
}

template <class Relation, typename T, class Run>
void backward_grids(const AttentionArrays<T>& p, const typename Relation::template Arrays<T>& relation,
                    const BackwardTargets<T>& to, Run&& run) {
  const int64_t blocks = (p.queries.rows * p.heads + kThreads - 1) / kThreads;
  if (blocks > 0) run.template grid<UpstreamTile<T>>(blocks, 1, {p, to});
  Relation::template each_pass<Side::kQuery>(
      relation, [&](const auto& pass) { backward_grid<Relation, T, Side::kQuery>(p, pass, to, run); });
  Relation::template each_pass<Side::kKey>(
      relation, [&](const auto& pass) { backward_grid<Relation, T, Side::kKey>(p, pass, to, run); });
}

}  // namespace geosft::cuda
