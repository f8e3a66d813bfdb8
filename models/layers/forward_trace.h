// SPDX-License-Identifier: Apache-2.0
// What one forward pass did, for people to look at: importance scores, samples and attention of every layer.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "models/layers/composed_attention.h"

namespace geosft {

// One layer of sampling attention on one item. Attention rows are not kept: attention_rows forms them again.
struct AttentionTrace {
  at::Tensor score;   // importance [N], without noise
  Pairs pairs;        // the K bins: top, partner, weight
  at::Tensor q, k;    // [N, h, c], [K, h, c]
  at::Tensor leak;    // [K, h], before the softplus
  Relative relative;  // of all tokens
  RelativeWeights weights;
  ComposedAttention rule;

  int64_t heads() const { return q.size(1); }
};

// The sampler of a head.
struct SamplerTrace {
  at::Tensor score;  // [N]; undefined: the model's head has no sampler
  Pairs pairs;
};

// Filled by a pass whose context traces into it. Rows are those of the tokens as the model ordered them.
struct ForwardTrace {
  std::vector<at::Tensor> tokens;      // [N, width]: what enters the first layer, then what leaves each
  std::vector<AttentionTrace> layers;  // one a layer of sampling attention
  SamplerTrace head;
  at::Tensor order;  // int64 [N]: row of the input that each token belongs to; undefined: as given

  // Values [N, ...] of the tokens in the order of the input.
  at::Tensor in_input_order(const at::Tensor& values) const;
  // The input's rows of tokens' rows, int64.
  at::Tensor input_rows(const at::Tensor& rows) const;
};

// P of `count` queries from row `first` on, [count, K, h], of a pass over one item: rows of the leaky relu probability
// sum to less than 1. Takes count * K * width memory: ask for few rows at once. Throws c10::Error for rows that are not
// there and for a pass over several items.
at::Tensor attention_rows(const AttentionTrace& layer, int64_t first, int64_t count);

// How much of the attention of query `row` falls on each token, [N, h]: that of a bin is shared between its top and its
// partner by their weights.
at::Tensor attention_on_tokens(const AttentionTrace& layer, int64_t row);

// How differently the heads look: for every token the mean over pairs of heads of the L2 distance between their
// attention, [N]; 0 for a single head. Works through the queries in chunks.
at::Tensor head_diversity(const AttentionTrace& layer);

}  // namespace geosft
