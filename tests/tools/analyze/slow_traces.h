// SPDX-License-Identifier: Apache-2.0
// What the analyses of a trace are held to: their definitions, number by number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "models/layers/forward_trace.h"

namespace geosft::test {

// The mean L2 distance between the attention of two heads, over tokens and pairs of heads of a layer.
inline double slow_distance(const AttentionTrace& layer) {
  double sum = 0;
  int64_t terms = 0;
  for (int64_t token = 0; token < layer.tokens; ++token) {
    const at::Tensor attention = attention_rows(layer, token, 1)[0].to(at::kDouble).contiguous();  // [keys, heads]
    const auto p = attention.accessor<double, 2>();
    for (int64_t a = 0; a < layer.heads; ++a) {
      for (int64_t b = 0; b < a; ++b, ++terms) {
        double squares = 0;
        for (int64_t key = 0; key < attention.size(0); ++key) squares += std::pow(p[key][a] - p[key][b], 2);
        sum += std::sqrt(squares);
      }
    }
  }
  return sum / static_cast<double>(terms);
}

// The mean cosine between two different tokens, over all pairs.
inline double slow_cosine(const at::Tensor& tokens) {
  const at::Tensor rows = tokens.to(at::kDouble).contiguous();
  const auto x = rows.accessor<double, 2>();
  const auto product = [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < rows.size(1); ++c) sum += x[i][c] * x[j][c];
    return sum;
  };
  double sum = 0;
  int64_t pairs = 0;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    for (int64_t j = 0; j < i; ++j, ++pairs) sum += product(i, j) / std::sqrt(product(i, i) * product(j, j));
  }
  return sum / static_cast<double>(pairs);
}

// How many singular values of tokens in float32 exceed what rounding leaves of zeros, max(rows, columns) times epsilon
// of the largest: from the eigenvalues of the products of all columns, in double precision. Its own rounding, 1e-16 of
// the largest square, moves a singular value by at most 1e-8 of the largest, below that threshold.
inline int64_t slow_rank(const at::Tensor& tokens) {
  const at::Tensor rows = tokens.to(at::kDouble);
  const at::Tensor squares = at::linalg_eigvalsh(rows.t().matmul(rows)).contiguous();  // ascending
  const auto square = squares.accessor<double, 1>();
  const double minimum = static_cast<double>(std::max(rows.size(0), rows.size(1))) *
                         static_cast<double>(std::numeric_limits<float>::epsilon());
  int64_t rank = 0;
  for (int64_t i = 0; i < squares.size(0); ++i) rank += square[i] > minimum * minimum * square[squares.size(0) - 1];
  return rank;
}

}  // namespace geosft::test
