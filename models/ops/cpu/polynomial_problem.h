// SPDX-License-Identifier: Apache-2.0
// What the kernels of polynomial_attention see. Forward and backward are one and the same computation between two
// sides, each with rows x and columns y that go with them (Y stands for y and one more column):
//   value_i = sum_j T_g(x_i . x'_j) y'_j,   gradient_i = sum_j T_{g-1}(x_i . x'_j) (Y_i . Y'_j) x'_j
// Forward is the value of queries from keys with Y' = [v, 1]; with Y = [G, -rho] / denominator on the side of the
// queries, backward is their gradient from keys, and both of the keys from queries.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ops/monomials.h"

namespace geosft {

inline constexpr int64_t kTokenBlock = 32;              // tokens that a kernel works on at a time
inline constexpr int64_t kPieceRows = 2 * kTokenBlock;  // of a unit, before the next head has its turn

template <typename T>
struct PolynomialSide {
  const T* x;        // [N, heads, c], contiguous
  T scale;           // that x is multiplied by
  const T* y;        // [N, heads, cv], contiguous
  const T* last;     // the further column, [N, heads]; null: ones
  const T* divisor;  // of y and the further column, [N, heads]; null: ones
  std::vector<int64_t> offsets;
};

// Which rows of the other side a row meets: of its item all, those up to its own place, or those from it on.
enum class Reach { all, before, after };

// Results are null where they are not asked for.
template <typename T>
struct PolynomialTask {
  const MonomialBasis& basis;
  int64_t heads, cv;
  PolynomialSide<T> own, other;
  Reach reach;
  T* value;        // [N, heads, cv]
  T* denominator;  // [N, heads], the value of the further column; `value` is then divided by it
  T* gradient;     // [N, heads, c], of x before its scale
  int64_t columns() const { return cv + 1; }
  bool valued() const { return value || denominator; }  // values without channels have a denominator all the same
};

// The rows of one item and head. The sum of monomials over other rows is kept in slots: one for each chunk of rows.
struct PolynomialPair {
  int64_t item, head;
  bool direct;  // pair by pair, without monomials
  int64_t first_slot, slots;
};

// Packed rows [begin, end) of a pair, and the slot that belongs to them.
struct PolynomialUnit {
  int64_t pair, begin, end, slot;
};

struct PolynomialPlan {
  std::vector<PolynomialPair> pairs;
  // In groups, one unit a head over the same rows, rows in their order.
  std::vector<PolynomialUnit> own;     // all rows; with Reach::all they read the first slot, else their own
  std::vector<PolynomialUnit> others;  // those whose monomials are summed, each into a slot of its own
  int64_t slots = 0;
};

// Rows of which a thread holds all monomials, of so many bytes a row, at once: they stay in the second-level cache.
int64_t batch_rows(int64_t monomial_bytes);

// Additions one after the other in a sum over the tokens of an item, at most: of the rows of a batch, then of the
// batches of a chunk. Chunks are added up in double precision.
int64_t additions_in_a_row(int64_t monomials, int64_t number_bytes);

// Numbers of a row in memory, whole vectors of `lanes`: of `count` numbers and one more at least, and of monomials, an
// odd number of vectors, which spreads rows over the sets of a cache, and at least one that nothing is stored to.
int64_t row_stride(int64_t count, int64_t lanes);
int64_t monomial_stride(int64_t monomials, int64_t lanes);

// Numbers of each of the arrays that one thread works in.
struct PolynomialScratch {
  int64_t x_rows, y_rows, monomial_rows;             // of other tokens
  int64_t x, y, value, gradient, monomials, slopes;  // of own tokens
  int64_t weighed, tiles;                            // a state; each of two tiles of pairs
  int64_t total() const;
};
PolynomialScratch polynomial_scratch(const MonomialBasis& basis, int64_t columns, Reach reach, bool gradient,
                                     int64_t lanes, int64_t number_bytes);

// Depends on sizes alone, never on the number of threads: results have the same bits on any number of them. PartialSums
// hold no more numbers than a side's y and a constant.
PolynomialPlan polynomial_plan(const std::vector<int64_t>& own, const std::vector<int64_t>& other, int64_t heads,
                               int64_t cv, const MonomialBasis& basis, Reach reach);

}  // namespace geosft
