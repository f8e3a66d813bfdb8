// SPDX-License-Identifier: Apache-2.0
// Computes the heads of the primal-dual attention family, as functions of tokens and weights.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

#include "geometry/packed.h"
#include "models/layers/primal_options.h"
#include "models/layers/relative_encoding.h"

namespace geosft {

// Linear maps of tokens to heads, as in torch::nn::Linear ([h c, d] and [h c], for values [h cv, d] and [h cv]; biases
// may be undefined), and the parameters of the options: beta [] or [h], convolution [h, s] or [h, s, s], and pooling
// [d, factor] for each factor above 1, in the order of first appearance in `pool`.
struct PrimalWeights {
  at::Tensor w_q, b_q, w_k, b_k, w_v, b_v;
  at::Tensor beta, convolution;
  std::vector<at::Tensor> pooling;
};

// Returns the attention of all heads before W_O, [N, h, cv], for x [N, d] packed by ptr. Keys and values of a scaled
// head are computed from the pooled tokens only.
at::Tensor mix_primal_heads(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                            const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                            const RelativeEncoding& relative);

// Returns the attention weights of the queries first … first + count - 1 of x [N, d], one item: [count, N, h]. The
// weight of a pooled key is divided evenly among its tokens (an empty k-means cluster has none).
at::Tensor primal_attention_rows(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                                 const PrimalOptions& options, const RelativeEncoding& relative, int64_t first,
                                 int64_t count);

// Queries and keys normalised by the mean and the population variance of their item's keys, per head and channel:
// (q - mu) / sqrt(var + eps).
struct NormalizedHeads {
  at::Tensor q, k;
};
NormalizedHeads normalized_by_keys(const at::Tensor& q, const at::Tensor& k, double eps, const OffsetPair& offsets);

}  // namespace geosft
