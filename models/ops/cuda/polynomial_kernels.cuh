// SPDX-License-Identifier: Apache-2.0
// Lists the grids of the stages of polynomial_attention, on a GPU or emulated: see launch_kernels. Items that are long
// enough are computed by monomials: chunks of column tokens are summed into states, states are combined, and row tokens
// are evaluated against them. Under a mask a row uses the state of the chunks before (or after) it, plus the tokens of
// its chunk pair by pair. Other items are computed pair by pair only. Memory: the states, m (cv + 1) numbers per chunk;
// chunks have at least m tokens.
#pragma once

#include "models/ops/cuda/monomial_kernel.cuh"
#include "models/ops/cuda/monomial_table_kernel.cuh"
#include "models/ops/cuda/polynomial_pair_kernel.cuh"

namespace geosft::cuda {

// Calls body(number) with the number of the cv + 1 columns that a thread holds.
template <typename T, class Body>
void with_columns(int cv, const Body& body) {
  if constexpr (sizeof(T) == 4) {
    if (cv < 9) return body(KernelNumber<9>());
  }
  body(KernelNumber<17>());
}

// Calls body(entries, rows per thread): see MonomialKernel. Double precision is for checks: one row.
template <typename T, PairPart kPart, class Body>
void with_entries(int entries, const Body& body) {
  if constexpr (sizeof(T) == 4) {
    constexpr bool kForward = kPart == PairPart::kValue;
    constexpr int kRows = kForward ? 4 : 2, kRowsOfSmall = kPart == PairPart::kBoth ? 2 : 4;
    if (entries <= kSmallTable) return body(KernelNumber<kSmallTable>(), KernelNumber<kRowsOfSmall>());
    if (entries <= kMediumTable) return body(KernelNumber<kMediumTable>(), KernelNumber<kRows>());
  } else {
    if (entries <= kMediumTable) return body(KernelNumber<kMediumTable>(), KernelNumber<1>());
  }
  body(KernelNumber<kLargestTable>(), KernelNumber<1>());
}

// Rows per block of MonomialKernel.
template <typename T>
int64_t monomial_tile_rows(const PolynomialTask<T>& task, int entries) {
  int64_t rows = 0;
  with_part(task, [&](auto part) {
    with_entries<T, decltype(part)::kValue>(
        entries, [&](auto, auto each) { rows = static_cast<int64_t>(decltype(each)::kValue) * kThreads; });
  });
  return rows;
}

template <typename T, class Run>
void polynomial_grids(MonomialTableStage, const PolynomialTask<T>& task, Run&& run) {
  element_grid<128>(MonomialTableCall<T>{task.table}, run);
}

template <typename T, class Run>
void polynomial_grids(MonomialSumStage, const PolynomialTask<T>& task, Run&& run) {
  const int64_t places = task.chunks.count(task.column_tokens.rows);
  with_columns<T>(task.cv, [&](auto columns) {
    const auto grid = [&](auto factors) {
      using Kernel = MonomialSumKernel<T, decltype(columns)::kValue, decltype(factors)::kValue>;
      run.template grid<Kernel>(places * Kernel::blocks_a_chunk(task), task.heads, task);
    };
    if (task.table.factors == 2) return grid(KernelNumber<2>());
    if (task.table.factors == 4) return grid(KernelNumber<4>());
    if (task.table.factors == 8) return grid(KernelNumber<8>());
    grid(KernelNumber<kMaxFactors>());
  });
  using Join = StateJoinKernel<T>;
  run.template grid<Join>(places * Join::blocks_a_chunk(task), task.heads, task);
}

template <typename T, class Run>
void polynomial_grids(MonomialStage, const PolynomialTask<T>& task, Run&& run) {
  with_part(task, [&](auto part) {
    constexpr PairPart kPart = decltype(part)::kValue;
    with_columns<T>(task.cv, [&](auto columns) {
      with_entries<T, kPart>(task.table.entries, [&](auto entries, auto rows) {
        using Kernel =
            MonomialKernel<T, decltype(entries)::kValue, decltype(rows)::kValue, decltype(columns)::kValue, kPart>;
        run.template grid<Kernel>(tile_blocks(task.row_tokens.rows.rows, task.row_tokens.rows.items, task.costs.tile),
                                  task.heads, task);
      });
    });
  });
}

template <typename T, class Run>
void polynomial_grids(PairStage, const PolynomialTask<T>& task, Run&& run) {
  with_part(task, [&](auto part) {
    with_pair_width<T>(task.c > task.cv ? task.c : task.cv, [&](auto width) {
      using Kernel = PairKernel<T, decltype(width)::kValue, decltype(part)::kValue>;
      run.template grid<Kernel>(tile_blocks(task.row_tokens.rows.rows, task.row_tokens.rows.items, kThreads),
                                task.heads, task);
    });
  });
}

template <class Stage, typename T, class Run>
void run_grids(const PolynomialStageCall<Stage, T>& call, Run&& run) {
  polynomial_grids(call.stage, call.task, run);
}

}  // namespace geosft::cuda
