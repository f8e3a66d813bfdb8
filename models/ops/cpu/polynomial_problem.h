// SPDX-License-Identifier: Apache-2.0
// Defines the inputs of the kernels of polynomial_attention. Forward and backward are one computation of queries
// and keys, each with x and y (Y stands for y and one further column):
//   value_i = sum_j T_g(x_i . x'_j) y'_j,   gradient_i = sum_j T_{g-1}(x_i . x'_j) (Y_i . Y'_j) x'_j
// Forward is the value of queries from keys with Y' = [v, 1]. Backward, with Y = [G, -rho] / denominator of the
// queries, is the query gradient from keys, and value and gradient of the keys from queries.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "models/ops/monomials.h"

namespace geosft {

inline constexpr int64_t kTokenBlock = 32;              // tokens per block of a kernel
inline constexpr int64_t kPieceRows = 2 * kTokenBlock;  // rows of a unit that are processed before the next head

template <typename T>
struct PolynomialTokens {
  const T* x;        // [N, heads, c], contiguous
  T scale;           // factor of x
  const T* y;        // [N, heads, cv], contiguous
  const T* last;     // the further column, [N, heads]; null for ones
  const T* divisor;  // divisor of y and the further column, [N, heads]; null for ones
  std::vector<int64_t> offsets;
};

// Keys that a query is paired with: all of its item, those up to its position, or those from it on.
enum class Reach { all, before, after };

// Computes results of the queries from the keys. For the gradients of keys and values, the queries of a task are the
// keys of the attention and its keys the queries. Results are null if not requested.
template <typename T>
struct PolynomialTask {
  const MonomialBasis& basis;
  int64_t heads, cv;
  PolynomialTokens<T> query, key;
  Reach reach;
  T* value;        // [N, heads, cv]
  T* denominator;  // [N, heads], the value of the further column; `value` is then divided by it
  T* gradient;     // [N, heads, c], of x before its scale
  int64_t columns() const { return cv + 1; }
  bool valued() const { return value || denominator; }  // a value without channels still has a denominator
};

// The rows of one item and head. The sums of monomials over the keys are partial accumulators, one per chunk of keys.
struct PolynomialPair {
  int64_t item, head;
  bool direct;  // pair by pair, without monomials
  int64_t first_partial, partials;
};

// Packed rows [begin, end) of a pair, and their partial accumulator.
struct PolynomialUnit {
  int64_t pair, begin, end, partial;
};

struct PolynomialPlan {
  std::vector<PolynomialPair> pairs;
  // In groups: one unit per head over the same rows, in row order.
  std::vector<PolynomialUnit>
      queries;  // all rows; with Reach::all they read the first partial accumulator, otherwise each its own
  std::vector<PolynomialUnit> keys;  // rows whose monomials are summed, each unit into its partial accumulator
  int64_t partials = 0;
};

// Rows whose monomials a thread holds at once, of monomial_bytes each: they stay in the L2 cache.
int64_t batch_rows(int64_t monomial_bytes);

// Maximum number of sequential additions in a sum over the tokens of an item: over the rows of a batch, then over the
// batches of a chunk. Chunks are added in double precision.
int64_t additions_in_a_row(int64_t monomials, int64_t number_bytes);

// Elements of a row in memory, in whole vectors of `lanes`. row_stride: at least count + 1. monomial_stride: an odd
// number of vectors, which spreads rows over the sets of a cache, the last of which is never written.
int64_t row_stride(int64_t count, int64_t lanes);
int64_t monomial_stride(int64_t monomials, int64_t lanes);

// Sizes of the arrays of one thread, in elements.
struct PolynomialScratch {
  int64_t x_rows, y_rows, monomial_rows;             // of keys
  int64_t x, y, value, gradient, monomials, slopes;  // of queries
  int64_t weighed, tiles;                            // a state; each of two tiles of pairs
  int64_t total() const;
};
PolynomialScratch polynomial_scratch(const MonomialBasis& basis, int64_t columns, Reach reach, bool gradient,
                                     int64_t lanes, int64_t number_bytes);

// Depends only on sizes, never on the number of threads, so results have the same bits on any number of threads. The
// states hold at most as many numbers as the y of the queries or keys, plus a constant.
PolynomialPlan polynomial_plan(const std::vector<int64_t>& query_offsets, const std::vector<int64_t>& key_offsets,
                               int64_t heads, int64_t cv, const MonomialBasis& basis, Reach reach);

// Returns x [N, ...], contiguous, float32 or float64, minus the mean of its item's rows; sums are in double precision.
// The map is its own transpose, so it also computes the backward pass.
at::Tensor centered_rows(const at::Tensor& x, const std::vector<int64_t>& offsets);

}  // namespace geosft
