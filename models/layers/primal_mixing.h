// SPDX-License-Identifier: Apache-2.0
// What the heads of the primal-dual attention family make of tokens, as functions.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

#include "geometry/packed.h"
#include "models/layers/primal_options.h"
#include "models/layers/relative.h"

namespace geosft {

// Maps of tokens to heads, as torch::nn::Linear has them ([h c, d] and [h c], those of values [h cv, d] and [h cv];
// biases may be undefined), and what the options have parameters for: beta [] or [h], convolution [h, s] or [h, s, s],
// pooling one [d, factor] a factor above 1, in the order in which factors appear first in `pool`.
struct PrimalWeights {
  at::Tensor w_q, b_q, w_k, b_k, w_v, b_v;
  at::Tensor beta, convolution;
  std::vector<at::Tensor> pooling;
};

// What is mixed before W_O, [N, h, cv]: x [N, d] packed by ptr. Keys and values of a scaled head are made of the pooled
// tokens alone.
at::Tensor mix_primal_heads(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                            const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                            const Relative& relative);

// How much the queries first … first + count - 1 of x [N, d], one item, look at each token: [count, N, h]. What a
// pooled key is given is shared evenly by its tokens; an empty cluster of k-means has none. Forms count x N numbers a
// head.
at::Tensor primal_attention_rows(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                                 const PrimalOptions& options, const Relative& relative, int64_t first, int64_t count);

// Queries and keys recentred by the mean of their item's keys and divided by the keys' deviation, both of every head
// and channel: (q - mu) / sqrt(var + eps), variance of the population.
struct NormalizedHeads {
  at::Tensor q, k;
};
NormalizedHeads normalized_by_keys(const at::Tensor& q, const at::Tensor& k, double eps, const OffsetPair& offsets);

}  // namespace geosft
