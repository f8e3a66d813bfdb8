// SPDX-License-Identifier: Apache-2.0
// Vectorizes over queries: a vector holds one channel of several queries, packed [c][queries]; channels of keys and
// values are broadcast in place. Every sum is lane-wise, including the row sum and the product with V. But a score is
// one dependent chain of additions, and each max+add loads both of its operands.
#include "models/ops/cpu/simd.h"
#include "tools/bench/ladder/ladder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench/ladder/variant_4_lanes_are_queries.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

GEOSFT_SIMD_BEGIN();
namespace hn = hwy::HWY_NAMESPACE;
using bench::LadderProblem;

// Computes a vector of queries of one head: `q` and `out` [c][lanes], `total` [lanes].
void one_vector(const LadderProblem& p, int64_t item, int64_t head, const float* q, float* total, float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < p.keys; ++j) {
    const float *k = p.key(item, j) + head * p.c, *v = p.value(item, j) + head * p.c;
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < p.c; ++t) sum = hn::Add(sum, hn::Max(hn::LoadU(d, q + t * lanes), hn::Set(d, k[t])));
    const auto weight = hn::Max(hn::Zero(d), hn::Mul(sum, hn::Set(d, p.scale())));
    hn::StoreU(hn::Add(hn::LoadU(d, total), weight), d, total);
    for (int64_t t = 0; t < p.c; ++t) {
      hn::StoreU(hn::MulAdd(weight, hn::Set(d, v[t]), hn::LoadU(d, out + t * lanes)), d, out + t * lanes);
    }
  }
}

void all_vectors(const LadderProblem& p) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  p.each_block(lanes, 0, [&](int64_t item, int64_t head, const float* q, float* total, float* out) {
    one_vector(p, item, head, q, total, out);
  });
}

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_LADDER_VARIANT(variant_4_lanes_are_queries, all_vectors)
#endif
