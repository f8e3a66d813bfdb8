// SPDX-License-Identifier: Apache-2.0
// Computes score, relu, row sum and product with V for one query and key at a time, without n x k intermediates. Since
// relu needs no maximum over the row, one pass over the keys is enough.
#include <algorithm>
#include <vector>

#include "tools/bench/ladder/ladder.h"

namespace geosft::bench {
namespace {

void one_row(const LadderProblem& p, int64_t item, int64_t i, int64_t head, float leaks) {
  const float* q = p.query(item, i) + head * p.c;
  float* out = p.result(item, i) + head * p.c;
  std::fill_n(out, p.c, 0.0F);
  float total = leaks;
  for (int64_t j = 0; j < p.keys; ++j) {
    const float *k = p.key(item, j) + head * p.c, *v = p.value(item, j) + head * p.c;
    float sum = 0;
    for (int64_t t = 0; t < p.c; ++t) sum += std::max(q[t], k[t]);
    const float weight = std::max(0.0F, sum * p.scale());
    total += weight;
    for (int64_t t = 0; t < p.c; ++t) out[t] += weight * v[t];
  }
  for (int64_t t = 0; t < p.c; ++t) out[t] /= total;
}

}  // namespace

void variant_2_scalar_tiles(const LadderProblem& p) {
  for (int64_t item = 0; item < p.items; ++item) {
    for (int64_t head = 0; head < p.heads; ++head) {
      const float leaks = p.leak_sum(item, head);
      for (int64_t i = 0; i < p.queries; ++i) one_row(p, item, i, head, leaks);
    }
  }
}

}  // namespace geosft::bench
