// SPDX-License-Identifier: Apache-2.0
// Checks the primal-dual frame by solving the dual: with values from LIBSVM's dual variables, attention must equal
// LIBSVM's predictions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/theory/support_vector_regression.h"

namespace geosft::bench {

struct FrameProblem {
  int64_t keys = 60, queries = 40, channels = 8, outputs = 3;
  int64_t factor = 4;  // of the scaled head
  double beta = 0.6;   // of recentring
  int64_t window = 3;  // of convolution
  RegressionOptions regression = {.cost = 1e4, .epsilon = 0.05};
  uint64_t seed = 0;
};

struct FrameProof {
  std::string name;
  int64_t pairs = 0, support_vectors = 0;  // of sparse attention: of the query with the largest number
  double spread = 0;                       // standard deviation of the predictions, for comparison with the errors
  double by_frame = 0;     // largest |attention of the frame - (prediction - bias)| over queries and outputs
  double by_operator = 0;  // the same for geosft::primal_attention
};

// Fits random keys with smooth targets and evaluates random queries, in float64, for softmax, linear, recentred,
// standardised, pooled, convolved and sparse members, and for softmax with a residual connection. For convolution on a
// grid, keys and queries are those of a grid of 2 rows (an odd one is left out). Sparse attention is a regression per
// query, on the pairs that the strided mask lets it see.
std::vector<FrameProof> prove_frame(const FrameProblem& problem);

}  // namespace geosft::bench
