// SPDX-License-Identifier: Apache-2.0
// Implements the inner loops of random walks: one step for all sources of a patch, vectorized over the sources.
#pragma once

#include <cstdint>

namespace geosft {

// Values are stored as walk_sources<T> = 64 / sizeof(T) columns per row, 64 bytes, aligned. Rows are those of one
// component; `begin`, `neighbour` and `weight` are WalkLists, with `begin` offset to the component's first row.
template <typename T>
struct WalkStep {
  const int64_t* begin;
  const int32_t* neighbour;
  const T* weight;          // null: all weights are 1
  const T* inverse_degree;  // by row; null: rows are not divided
  const int32_t* rows;      // the rows to compute
  int64_t count;
  const T* from;
  T* to;
};

// Computes to[row] = inverse_degree[row] * sum of weight * from[neighbour], and for a symmetric graph, where
// (P^(a+b))_ii D_i = sum_j D_j (P^a)_ji (P^b)_ji:
//   even[s] += sum over rows of D to^2,   odd[s] += sum over rows of D to from,   for every source s
void walk_step_symmetric(const WalkStep<float>& step, double* even, double* odd);
void walk_step_symmetric(const WalkStep<double>& step, double* even, double* odd);

// Computes to[row] = sum of weight * from[neighbour]; inverse_degree is ignored.
void walk_step(const WalkStep<float>& step);
void walk_step(const WalkStep<double>& step);

// Computes sum[s] += sum over rows of a b
void walk_product(const float* a, const float* b, const int32_t* rows, int64_t count, double* sum);
void walk_product(const double* a, const double* b, const int32_t* rows, int64_t count, double* sum);

}  // namespace geosft
