// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/work.h"

#include <algorithm>

namespace geosft::bench {
namespace {

constexpr double float_bytes = 4;

double forward_bytes(const AttentionShape& shape) {
  return float_bytes * shape.width * (2 * shape.queries + 2 * shape.keys);
}

}  // namespace

Work maxout_forward_work(const AttentionShape& shape) {
  const double elements = shape.pairs * shape.width;
  return {elements, elements + shape.pairs * shape.relative, forward_bytes(shape)};
}

Work maxout_both_work(const AttentionShape& shape) {
  const double elements = shape.pairs * shape.width;
  return {3.5 * elements, 3 * elements + 4 * shape.pairs * shape.relative, 2 * forward_bytes(shape)};
}

Work dot_forward_work(const AttentionShape& shape) {
  return {0, 2 * shape.pairs * shape.width, forward_bytes(shape)};
}

Work dot_both_work(const AttentionShape& shape) {
  return {0, 7 * shape.pairs * shape.width, 2 * forward_bytes(shape)};
}

Work polynomial_forward_work(const PolynomialShape& s) {
  const double rows = s.items * s.tokens, columns = s.channels + 1;
  const double elements =
      std::min(2 * rows * s.monomials * columns, rows * s.tokens * (s.channels + s.degree + columns));
  return {0, elements, float_bytes * rows * 4 * s.channels};
}

Work polynomial_both_work(const PolynomialShape& s) {
  const double rows = s.items * s.tokens, columns = s.channels + 1;
  const double monomials = rows * s.monomials * (6 * columns + s.channels + 4);
  const double backward = 2 * (s.channels + s.degree + columns) + 3 * s.channels;
  const double pairs = rows * s.tokens * (s.channels + s.degree + columns + backward);
  return {0, std::min(monomials, pairs), float_bytes * rows * 8 * s.channels};
}

double bound_seconds(const Work& work, const TileRates& rates) {
  return work.max_add / rates.max_add + work.multiply_add / rates.multiply_add;
}

}  // namespace geosft::bench
