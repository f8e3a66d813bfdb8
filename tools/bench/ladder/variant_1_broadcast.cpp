// SPDX-License-Identifier: Apache-2.0
// Computes maxout attention as broadcasting does, per head: all maxima [n, k, c], their sums [n, k], then the product
// with V. Every intermediate is written to memory and read again.
#include <algorithm>

#include "tools/bench/ladder/ladder.h"

namespace geosft::bench {
namespace {

void all_maxima(const LadderProblem& p, int64_t item, int64_t head, std::vector<float>& maxima) {
  for (int64_t i = 0; i < p.queries; ++i) {
    const float* q = p.query(item, i) + head * p.c;
    for (int64_t j = 0; j < p.keys; ++j) {
      const float* k = p.key(item, j) + head * p.c;
      float* to = maxima.data() + (i * p.keys + j) * p.c;
      for (int64_t t = 0; t < p.c; ++t) to[t] = std::max(q[t], k[t]);
    }
  }
}

void all_weights(const LadderProblem& p, const std::vector<float>& maxima, std::vector<float>& weights) {
  for (int64_t pair = 0; pair < p.queries * p.keys; ++pair) {
    float sum = 0;
    for (int64_t t = 0; t < p.c; ++t) sum += maxima[pair * p.c + t];
    weights[pair] = std::max(0.0F, sum * p.scale());
  }
}

void all_results(const LadderProblem& p, int64_t item, int64_t head, const std::vector<float>& weights) {
  const float leaks = p.leak_sum(item, head);
  for (int64_t i = 0; i < p.queries; ++i) {
    float* out = p.result(item, i) + head * p.c;
    std::fill_n(out, p.c, 0.0F);
    float total = leaks;
    for (int64_t j = 0; j < p.keys; ++j) {
      const float weight = weights[i * p.keys + j];
      const float* v = p.value(item, j) + head * p.c;
      total += weight;
      for (int64_t t = 0; t < p.c; ++t) out[t] += weight * v[t];
    }
    for (int64_t t = 0; t < p.c; ++t) out[t] /= total;
  }
}

}  // namespace

void variant_1_broadcast(const LadderProblem& p) {
  std::vector<float> maxima(static_cast<size_t>(p.queries * p.keys * p.c));
  std::vector<float> weights(static_cast<size_t>(p.queries * p.keys));
  for (int64_t item = 0; item < p.items; ++item) {
    for (int64_t head = 0; head < p.heads; ++head) {
      all_maxima(p, item, head, maxima);
      all_weights(p, maxima, weights);
      all_results(p, item, head, weights);
    }
  }
}

}  // namespace geosft::bench
