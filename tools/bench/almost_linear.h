// SPDX-License-Identifier: Apache-2.0
// Measures the central claim of "Multi-Layer Transformers Gradient Can be Approximated in Almost Linear Time": with
// channels that grow as log n and bounded scores, output and gradients of attention to within 1/n in time n^(1 + o(1)).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/bench/timing.h"

namespace geosft::bench {

// One head of self-attention over n random normal tokens X [n, d], in double precision: Q = X W_Q, K = X W_K,
// V = X W_V with random normal weights [d, d].
struct AlmostLinearOptions {
  double channels_per_log = 0.5;  // d = channels_per_log * log2(n), rounded, at least 1
  double largest_score = 0.25;    // the scale is such that the largest |q| times the largest |k| is this
  int64_t min_tokens = int64_t{1} << 10, max_tokens = int64_t{1} << 17;  // n doubles from the first to the second
  // Up to this n the loss reads every row of the result, and exact attention is timed. Beyond it the loss reads
  // `read_rows` random rows, for which the exact gradients of all tokens and weights take O(read_rows n).
  int64_t exact_tokens = 4096;
  int64_t read_rows = 64;
  uint64_t seed = 0;
};

// Relative errors |polynomial - exact| / |exact| in the 2-norm, of the rows of the result that the loss reads and of
// the gradients of the loss.
struct AlmostLinearErrors {
  double out = 0, x = 0, w_q = 0, w_k = 0, w_v = 0;
};

struct AlmostLinearPoint {
  int64_t tokens = 0, channels = 0;
  int64_t degree = 0, monomials = 0;  // the smallest even degree with a bound of the error of at most 1 / n
  double bound = 0;                   // on the relative error of attention weights, at this degree
  int64_t rows = 0;                   // rows of the result that the loss reads
  AlmostLinearErrors errors;
  Timing polynomial;            // forward and backward of polynomial_attention, with a gradient of all rows
  std::optional<Timing> exact;  // of LibTorch's scaled_dot_product_attention in turns with it
};

// Measures one point per n. Throws c10::Error if a degree would take more than kMaxMonomials monomials. `progress`
// receives n before each point, and may throw.
std::vector<AlmostLinearPoint> measure_almost_linear(const AlmostLinearOptions& options, const TimingOptions& timing,
                                                     const std::function<void(int64_t)>& progress);

}  // namespace geosft::bench
