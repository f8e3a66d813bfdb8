// SPDX-License-Identifier: Apache-2.0
// Includes the kernels of primal_attention and lists the grids of each call, on a GPU or emulated.
#pragma once

#include "models/ops/cuda/primal_linear_kernel.cuh"
#include "models/ops/cuda/primal_masked_kernel.cuh"
#include "models/ops/cuda/primal_rows_kernel.cuh"
#include "models/ops/cuda/primal_softmax_kernel.cuh"

namespace geosft::cuda {

template <typename T, class Run>
void linear_sum_grids(const PrimalTask<T>& task, Run&& run) {
  using TileSums = PrimalTileSumKernel<T>;
  using Join = PrimalItemJoinKernel<T>;
  run.template grid<TileSums>(TileSums::blocks(task.column_tokens.packed) * TileSums::pieces(task), task.heads, task);
  run.template grid<Join>(task.column_tokens.packed.items * Join::pieces(task), task.heads, task);
}

template <typename T, class Run>
void run_grids(const PrimalTask<T>& task, Run&& run) {
  if (task.linear) linear_sum_grids(task, run);
  const int64_t blocks = tile_blocks(task.row_tokens.packed.rows, task.row_tokens.packed.items, kThreads);
  with_pair_width<T>(task.c > task.cv ? task.c : task.cv, [&](auto width) {
    constexpr int kWidth = decltype(width)::kValue;
    with_part(task, [&](auto part) {
      constexpr PairPart kPart = decltype(part)::kValue;
      if (task.linear) return run.template grid<PrimalLinearKernel<T, kWidth, kPart>>(blocks, task.heads, task);
      if (task.mask.rowptr) return run.template grid<PrimalMaskedKernel<T, kWidth, kPart>>(blocks, task.heads, task);
      if constexpr (kPart == PairPart::kValue) {
        run.template grid<PrimalSoftmaxKernel<T, kWidth>>(blocks, task.heads, task);
      } else {
        run.template grid<PrimalGradientKernel<T, kWidth, kPart>>(blocks, task.heads, task);
      }
    });
  });
}

template <typename T, class Run>
void run_grids(const PrimalPooling<T>& in, Run&& run) {
  using Kernel = PrimalPoolKernel<T>;
  run.template grid<Kernel>(tile_blocks(in.pooled.packed.rows, in.pooled.packed.items, Kernel::kRows), in.heads, in);
}

template <typename T, class Run>
void run_grids(const PrimalUnpooling<T>& in, Run&& run) {
  using Kernel = PrimalUnpoolKernel<T>;
  run.template grid<Kernel>(tile_blocks(in.packed.rows, in.packed.items, Kernel::kRows), in.heads, in);
}

template <typename T, class Run>
void run_grids(const PrimalItemSums<T>& in, Run&& run) {
  run.template grid<PrimalItemSumKernel<T>>(in.blocks(), in.heads, in);
  run.template grid<PrimalItemSumJoinKernel<T>>(in.tokens.packed.items, in.heads, in);
}

}  // namespace geosft::cuda
