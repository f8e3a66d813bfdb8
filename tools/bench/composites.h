// SPDX-License-Identifier: Apache-2.0
// Composes attention baselines from LibTorch's operations: contiguous heads-first inputs, and as few passes over n x k
// numbers as autograd permits.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "tools/bench/attention_inputs.h"

namespace geosft::bench {

inline constexpr double attention_eps = 1e-6;

// Relative encodings of all pairs, [B, h, n, m]; undefined: 1 and 0.
struct DenseTerms {
  at::Tensor mul, add;
};

// Linear maps from X_R to heads; w_* [r, h], b_* [h].
struct BiasWeights {
  at::Tensor w_mul, b_mul, w_add, b_add;
};

// softmax(q k^T / sqrt(c)) v with LibTorch's fused operator: a different function with the same shapes.
at::Tensor softmax_attention(const HeadsFirstInputs& inputs);

// Maxout attention with cdist: max(a, b) = (a + b + |a - b|) / 2, and cdist with p = 1 sums |a - b|.
at::Tensor cdist_attention(const HeadsFirstInputs& inputs, const DenseTerms& terms = {});

// Maxout attention by broadcasting q against k in blocks [B, h, rows, m, c], with as many query rows as fit into
// `block_bytes`.
at::Tensor broadcast_attention(const HeadsFirstInputs& inputs, const DenseTerms& terms = {},
                               int64_t block_bytes = int64_t{64} << 20);

// softplus(X_R w_mul + b_mul) and X_R w_add + b_add for X_R [B, r, n, m].
DenseTerms linear_terms(const at::Tensor& channels, const BiasWeights& weights);

// X_R of points: squared distances of x [B, n, 3] and xs [B, m, 3] and, if defined, dot products of the normals and,
// with `angles`, those of both normals and xs - x; [B, r, n, m].
at::Tensor point_channels(const at::Tensor& x, const at::Tensor& xs, const at::Tensor& normals,
                          const at::Tensor& sampled_normals, bool angles = false);

// The relative encodings of sequences without forming X_R: s [B, n, ds], ss [B, m, ds].
DenseTerms sequence_terms(const at::Tensor& s, const at::Tensor& ss, const BiasWeights& weights);

}  // namespace geosft::bench
