// SPDX-License-Identifier: Apache-2.0
// Vectorizes over keys: a vector holds one channel of several keys, packed [c][keys]; the query's channel is broadcast.
// The weights are then spread over lanes: the row sum needs a horizontal sum, and each weight must be extracted for the
// product with V.
#include "models/ops/cpu/simd.h"
#include "tools/bench/ladder/ladder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench/ladder/variant_3_lanes_are_keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

GEOSFT_SIMD_BEGIN();
namespace hn = hwy::HWY_NAMESPACE;
using bench::LadderProblem;

// Computes relu(S) of one query for all packed keys; lanes beyond the last key are set to 0.
void row_weights(const float* q, const std::vector<float>& packed, const LadderProblem& p, float* weights) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), padded = static_cast<int64_t>(packed.size()) / p.c;
  for (int64_t j = 0; j < padded; j += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < p.c; ++t) {
      sum = hn::Add(sum, hn::Max(hn::Set(d, q[t]), hn::LoadU(d, packed.data() + t * padded + j)));
    }
    hn::StoreU(hn::Max(hn::Zero(d), hn::Mul(sum, hn::Set(d, p.scale()))), d, weights + j);
  }
}

void one_head(const LadderProblem& p, int64_t item, int64_t head) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const int64_t padded = (p.keys + lanes - 1) / lanes * lanes;
  std::vector<float> packed(static_cast<size_t>(padded * p.c), 0.0F), weights(static_cast<size_t>(padded));
  for (int64_t j = 0; j < p.keys; ++j) {
    for (int64_t t = 0; t < p.c; ++t) packed[t * padded + j] = p.key(item, j)[head * p.c + t];
  }
  const float leaks = p.leak_sum(item, head);
  for (int64_t i = 0; i < p.queries; ++i) {
    row_weights(p.query(item, i) + head * p.c, packed, p, weights.data());
    float* out = p.result(item, i) + head * p.c;
    std::fill_n(out, p.c, 0.0F);
    float total = leaks;
    for (int64_t j = 0; j < p.keys; ++j) {
      const float* v = p.value(item, j) + head * p.c;
      total += weights[j];
      for (int64_t t = 0; t < p.c; ++t) out[t] += weights[j] * v[t];
    }
    for (int64_t t = 0; t < p.c; ++t) out[t] /= total;
  }
}

void all_heads(const LadderProblem& p) {
  for (int64_t item = 0; item < p.items; ++item) {
    for (int64_t head = 0; head < p.heads; ++head) one_head(p, item, head);
  }
}

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_LADDER_VARIANT(variant_3_lanes_are_keys, all_heads)
#endif
