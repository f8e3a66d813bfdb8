// SPDX-License-Identifier: Apache-2.0
// Composes the attentions that the paper compares with from tensor operations: any score with any probability.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "models/layers/attention.h"

namespace geosft {

// Maps from X_R to heads: R_mul = softplus(X_R w_mul + b_mul), R_add = X_R w_add + b_add.
struct RelativeMaps {
  at::Tensor w_mul, b_mul, w_add, b_add;
};

// The attention bias: R_mul and R_add of all queries and keys, as maxout_attention takes them, [sum_b nq_b * nk_b, h].
struct DenseAttentionBias {
  at::Tensor mul, add;
};
// Returns the attention bias of a graph encoding.
DenseAttentionBias dense_attention_bias(const RelativeEncoding& relative, const Pairs& pairs,
                                        const RelativeMaps& weights, const std::optional<at::Tensor>& q_ptr,
                                        const std::optional<at::Tensor>& k_ptr);

// Rows of queries and of keys that belong to one item.
struct AttentionSpan {
  int64_t query, queries, key, keys;
};

// Attention with S = score(q, k) / sqrt(c) * R_mul + R_add, score the maxout or the scalar product, and P the leaky
// relu normalisation or the softmax over the keys of an item (SFT section 4.3). Forms S for one item at a time, [n, k,
// h], and for maxout [n, k, h, c]: for comparisons, not for speed. Arguments and result as in maxout_attention.
struct ComposedAttention {
  ScoreKind score;
  ProbabilityKind probability;
  double eps;

  at::Tensor operator()(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                        const RelativeEncoding& relative, const Pairs& pairs, const RelativeMaps& weights,
                        const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr) const;

  // Returns P of the queries of `span` over its keys, [queries, keys, h].
  at::Tensor probabilities(const at::Tensor& q, const at::Tensor& k, const at::Tensor& leak,
                           const RelativeEncoding& relative, const Pairs& pairs, const RelativeMaps& weights,
                           const AttentionSpan& span) const;
};

}  // namespace geosft
