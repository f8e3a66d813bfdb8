// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/work.h"

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

double bound_seconds(const Work& work, const TileRates& rates) {
  return work.max_add / rates.max_add + work.multiply_add / rates.multiply_add;
}

}  // namespace geosft::bench
