// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_host.h"

#include <algorithm>

#include "models/ops/cuda/monomial_sum_kernel.cuh"
#include "models/ops/monomials.h"

namespace geosft::cuda {
namespace {

constexpr int64_t kChunkStep = 256;  // chunks are multiples of this, and so of tiles
constexpr int64_t kMaxChunks = 64;   // per item, so that adding them up stays cheap

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Returns the shape with the highest table degree, up to half the degree, that fits in `maximum` entries.
TableShape shape_within(int64_t channels, int64_t degree, int64_t maximum) {
  if (channels + 1 > maximum) return {0, 0, 0};
  int64_t table_degree = 1;
  while (2 * table_degree < degree && monomial_count(channels, table_degree + 1) <= maximum) ++table_degree;
  const int64_t factors = std::max<int64_t>(ceil_div(degree, table_degree), 1);
  if (factors > kMaxFactors) return {0, 0, 0};
  return {static_cast<int>(table_degree), static_cast<int>(monomial_count(channels, table_degree)),
          factors <= 2 ? 2 : (factors <= 4 ? 4 : (factors <= 8 ? 8 : kMaxFactors))};
}

// Under a mask the rows of a chunk are computed pair by pair: a chunk has about as many rows as make that cost what
// monomials do. Without a mask an item has at most kMaxChunks chunks.
int64_t chunk_rows(int64_t monomials, Reach reach, int64_t columns) {
  const int64_t rows = std::max(kChunkStep, monomials);
  const int64_t share = reach == Reach::kAll ? ceil_div(columns, kMaxChunks) : 0;
  return ceil_div(std::max(rows, share), kChunkStep) * kChunkStep;
}

// A mask leaves half of the pairs, so monomial costs count twice relative to pairs. Each row is also paired with half
// of its chunk.
PolynomialCosts costs_of(int64_t monomials, int64_t channels, int64_t degree, int64_t cv, Reach reach, int64_t tile,
                         int64_t chunk) {
  const int64_t pair = channels + 3 * degree + cv + 1, row = monomials * (cv + 2);
  if (reach == Reach::kAll) return {pair, row, row, tile};
  return {pair, 2 * row + chunk * pair, 2 * row, tile};
}

// Uses as few blocks as cover the monomials, or as many as keep every multiprocessor busy.
SumLayout sum_layout(int64_t monomials, int entries, int64_t blocks_a_tile) {
  constexpr int64_t kTargetBlocks = 2 * 132;
  const auto tiles = [&](int64_t groups) { return ceil_div(monomials, groups * kSumEach); };
  int groups = 4;
  while (groups < kSumThreads && tiles(groups) > 1 && tiles(groups) * blocks_a_tile > kTargetBlocks) groups *= 2;
  const int step = kSumTableNumbers / (entries | 1) / 32 * 32;
  return {groups, tiles(groups), std::min(step, kMaxSumStep)};
}

// Finds which kinds of items there are, exactly if the offsets are known; `minimum` becomes the minimum of columns of
// an item computed by monomials.
void find_kinds(const PolynomialItems& items, PolynomialPlan& plan, int64_t& minimum) {
  if (!items.row_offsets) {
    PolynomialCosts best = plan.costs;  // as if all tiles were full: then a single item is the best case
    best.tile = 1;
    plan.monomials = best.worth_monomials(items.rows, items.columns);
    plan.pairs = true;
    return;
  }
  int64_t shortest = items.columns;
  for (int64_t b = 0; b < items.items; ++b) {
    const size_t at = static_cast<size_t>(b);
    const int64_t rows = (*items.row_offsets)[at + 1] - (*items.row_offsets)[at],
                  columns = (*items.column_offsets)[at + 1] - (*items.column_offsets)[at];
    if (rows == 0) continue;
    const bool worth = plan.costs.worth_monomials(rows, columns);
    plan.monomials |= worth;
    plan.pairs |= !worth;
    if (worth) shortest = std::min(shortest, columns);
  }
  minimum = std::max(minimum, shortest);
}

}  // namespace

TableShape table_shape(int64_t channels, int64_t degree) {
  const TableShape small = shape_within(channels, degree, kSmallTable),
                   medium = shape_within(channels, degree, kMediumTable);
  for (const int maximum : {2, 4, 8, kMaxFactors}) {
    for (const TableShape& shape : {small, medium}) {
      if (shape.factors > 0 && shape.factors <= maximum) return shape;
    }
  }
  return shape_within(channels, degree, kLargestTable);
}

PolynomialPlan polynomial_plan(const TableShape& shape, int64_t channels, int64_t degree, int64_t cv, Reach reach,
                               int64_t tile, const PolynomialItems& items) {
  PolynomialPlan plan{};
  if (shape.factors == 0) {
    plan.costs.tile = 1;
    plan.pairs = true;
    return plan;
  }
  const int64_t monomials = monomial_count(channels, degree);
  const int64_t chunk = chunk_rows(monomials, reach, items.columns);
  plan.costs = costs_of(monomials, channels, degree, cv, reach, tile, chunk);
  int64_t minimum = std::max(plan.costs.row / plan.costs.pair, PolynomialCosts::kMinRows);
  find_kinds(items, plan, minimum);
  plan.chunks = {chunk, items.items == 1 ? chunk : std::min(minimum, chunk / 2)};
  plan.sums = sum_layout(monomials, shape.entries, ceil_div(items.columns, chunk) * items.heads);
  plan.pairs |= plan.monomials && reach != Reach::kAll;
  return plan;
}

}  // namespace geosft::cuda
