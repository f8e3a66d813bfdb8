// SPDX-License-Identifier: Apache-2.0
// What the kernels of polynomial_attention see: contiguous, checked arrays. As on the CPU, forward and
// backward are one computation between two sides, each with rows x and columns y (Y stands for y and one more column):
//   value_i = sum_j T_g(x_i . x'_j) y'_j,   gradient_i = sum_j T_{g-1}(x_i . x'_j) (Y_i . Y'_j) x'_j
// Forward is the value of queries from keys with Y' = [1, v]; with Y = [-rho, G] / denominator on the side of the
// queries, backward is their gradient from keys, and both of the keys from queries.
#pragma once

#include "models/ops/cuda/paired_rows.h"

namespace geosft::cuda {

// x [N, heads, c] counts times `factor`, so that the product of both sides is the scaled score; y [N, heads, cv], and
// before it the further column [N, heads], null for ones.
template <typename T>
struct PolynomialSide {
  Accessor<const T> x;
  T factor;
  const T* further;
  Accessor<const T> y;
  PackedRows rows;
};

// Which rows of the other side a row meets: of its item all, those up to its own place, or those from it on.
enum class Reach { kAll, kBefore, kAfter };

// The most entries of a table of monomials, and the most factors that a monomial is made of.
inline constexpr int kSmallTable = 20, kMediumTable = 48, kLargestTable = 132, kMaxFactors = 16;

// The monomials of c variables of degree at most `degree`, `count` of them, in the order of MonomialBasis. The first
// `entries`, those of degree at most table_degree, are made for each token: the constant, the variables, and from
// `recipe` [entries, 2] products of two entries. The others are products of `factors` entries (2, 4, 8 or 16), the
// numbers of which are in `factor` [count, factors]: a monomial of degree t > table_degree has its last table_degree
// channels as its last factor, and the others, in pieces of table_degree, before it (0, the constant, where there are
// fewer). So monomials with the same first factors are neighbours, a run, and their last ones are the entries from one
// to the last. weight [count]: 1 / a!.
template <typename T>
struct MonomialTable {
  int c;
  int64_t degree, count;
  int table_degree, entries, factors;
  uint8_t* recipe;
  uint8_t* factor;
  T* weight;
};

// Which items go by monomials rather than pair by pair: operations of a pair of rows (of all own rows of a block, were
// it not full), and by monomials of a row of the own side (of all rows of a tile) and of the other side. Integers, for
// the host and the device must agree. pair = 0: none does.
struct PolynomialCosts {
  int64_t pair, own_row, other_row;
  int64_t tile;
  static constexpr int64_t kMinRows = 16;  // of the other side, whatever they cost

  GEOSFT_DEVICE bool worth_monomials(int64_t own_rows, int64_t other_rows) const {
    constexpr int64_t kMost = int64_t{1} << 22;  // rows beyond which nothing changes, and no product overflows
    if (own_rows == 0 || other_rows < kMinRows) return false;
    const int64_t own = own_rows < kMost ? own_rows : kMost, other = other_rows < kMost ? other_rows : kMost;
    const int64_t paired = (own + kThreads - 1) / kThreads * kThreads, tiled = (own + tile - 1) / tile * tile;
    return paired * other * pair > tiled * own_row + other * other_row;
  }
};

// The chunks of `rows` rows that items going by monomials are cut into: one that begins at row p has the places from
// p / spacing on. It has `spacing` rows or more and spacing <= rows / 2, or there is one item alone: so its places end
// before those of the next, floor((p + n) / spacing) >= floor(p / spacing) + ceil(n / rows).
struct ChunkPlaces {
  int64_t rows, spacing;

  int64_t count(const PackedRows& packed) const { return packed.rows / spacing + 1; }
};

// How the threads of a block that sums over tokens share its work: `groups` of them have monomials of their own, 4
// each, and as many threads as there are groups in a block share the tokens out, `step` of which are there at a time;
// `tiles` blocks for all monomials.
struct SumLayout {
  int groups;
  int64_t tiles;
  int step;
};

// Results are null where they are not asked for: value [N, heads, cv], and with a denominator [N, heads] (the value of
// the further column) divided by it; gradient [N, heads, c] of the own x before its factor.
template <typename T>
struct PolynomialTask {
  PolynomialSide<T> own, other;
  int64_t heads;
  int c, cv;
  int64_t degree;
  Reach reach;
  T* value;
  T* denominator;
  T* gradient;

  PolynomialCosts costs;
  ChunkPlaces chunks;  // of other rows; whole tiles of own rows make a chunk
  SumLayout sums;
  MonomialTable<T> table;
  T* states;  // [places of chunks, heads, table.count, cv + 1]: sums of monomials times Y'

  PairPart part() const { return denominator ? PairPart::kValue : (value ? PairPart::kBoth : PairPart::kGradient); }
};

// What a task consists of, each with grids of its own (polynomial_grids.h): the table, which tasks of one call share;
// the states and what is related to them; the pairs.
struct MonomialTableStage {};
struct MonomialSumStage {};
struct MonomialStage {};
struct PairStage {};

// A stage of a task, for launching: see kernel_launcher.h.
template <class Stage, typename T>
struct PolynomialStageCall {
  Stage stage;
  PolynomialTask<T> task;
};

}  // namespace geosft::cuda
