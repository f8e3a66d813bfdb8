// SPDX-License-Identifier: Apache-2.0
// Keeps tiles of kRows scalars by kVectors vectors of queries in registers while it loops over channels (for the score)
// or keys (for V): a vector load serves kRows accumulators, a broadcast serves kVectors, and all accumulators are
// independent. The weights of a block of keys x queries stay in the L1 cache between the two products.
#include "models/ops/cpu/simd.h"
#include "tools/bench/ladder/ladder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench/ladder/variant_5_register_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

GEOSFT_SIMD_BEGIN();
namespace hn = hwy::HWY_NAMESPACE;
using bench::LadderProblem;
using D = hn::ScalableTag<float>;
constexpr int kRows = 4, kVectors = 4;
constexpr int64_t kKeys = 32;

// Computes to[r] += sum_t max(a, b) or sum_t a * b with a = vectors[t] and b = scalars[r * row + t * step], for `rows`
// rows in tiles of kRows; rows of `vectors` and `to` are kVectors vectors long. The last tile may write up to kRows - 1
// rows past the end.
template <bool use_max>
HWY_INLINE void product(const float* vectors, int64_t depth, const float* scalars, int64_t row, int64_t step,
                        int64_t rows, float* to) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), block = kVectors * lanes;
  for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
    hn::Vec<D> sum[kRows][kVectors];
    const float* from[kRows];
    for (int r = 0; r < kRows; ++r) {
      from[r] = scalars + std::min<int64_t>(r0 + r, rows - 1) * row;
      for (int i = 0; i < kVectors; ++i) sum[r][i] = hn::LoadU(d, to + (r0 + r) * block + i * lanes);
    }
    for (int64_t t = 0; t < depth; ++t) {
      for (int r = 0; r < kRows; ++r) {
        const auto scalar = hn::Set(d, from[r][t * step]);
        for (int i = 0; i < kVectors; ++i) {
          const auto vector = hn::LoadU(d, vectors + t * block + i * lanes);
          sum[r][i] = use_max ? hn::Add(sum[r][i], hn::Max(vector, scalar)) : hn::MulAdd(vector, scalar, sum[r][i]);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int i = 0; i < kVectors; ++i) hn::StoreU(sum[r][i], d, to + (r0 + r) * block + i * lanes);
    }
  }
}

// Computes a block of queries of one head: q and out [c][block], total [block], weights [kKeys][block].
void one_block(const LadderProblem& p, int64_t item, int64_t head, const float* q, float* weights, float* total,
               float* out) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), block = kVectors * lanes;
  const auto scale = hn::Set(d, p.scale());
  for (int64_t j = 0; j < p.keys; j += kKeys) {
    const int64_t keys = std::min(kKeys, p.keys - j);
    std::fill_n(weights, kKeys * block, 0.0F);
    product<true>(q, p.c, p.key(item, j) + head * p.c, p.width(), 1, keys, weights);
    for (int64_t e = 0; e < keys * block; e += lanes) {
      float* const sum = total + (e & (block - 1));  // block is a power of two
      const auto weight = hn::Max(hn::Zero(d), hn::Mul(hn::LoadU(d, weights + e), scale));
      hn::StoreU(weight, d, weights + e);
      hn::StoreU(hn::Add(hn::LoadU(d, sum), weight), d, sum);
    }
    product<false>(weights, keys, p.value(item, j) + head * p.c, 1, p.width(), p.c, out);
  }
}

void all_blocks(const LadderProblem& p) {
  const int64_t block = kVectors * static_cast<int64_t>(hn::Lanes(D()));
  std::vector<float> weights(static_cast<size_t>(kKeys * block));
  p.each_block(block, kRows, [&](int64_t item, int64_t head, const float* q, float* total, float* out) {
    one_block(p, item, head, q, weights.data(), total, out);
  });
}

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_LADDER_VARIANT(variant_5_register_tiles, all_blocks)
#endif
