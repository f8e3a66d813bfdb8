// SPDX-License-Identifier: Apache-2.0
// What one forward pass did, for people to look at: importance scores, samples and attention of every layer.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "models/layers/sampler.h"

namespace geosft {

// One layer of attention. Attention rows are not kept: attention_rows forms them again.
struct AttentionTrace {
  int64_t items = 1, tokens = 0, heads = 0;  // of the pass
  // P of `count` queries from row `first` on over the keys, [count, keys, h], where the pass had one item. Keys are the
  // bins of a layer that samples, else all tokens: what a pooled key is given is shared evenly by its tokens.
  std::function<at::Tensor(int64_t first, int64_t count)> rows;
  int64_t row_size = 0;  // numbers of the largest tensor that forming one row takes
  // Undefined where the layer does not sample:
  at::Tensor score;  // importance [N], without noise
  Pairs pairs;       // the K bins: top, partner, weight

  bool samples() const { return score.defined(); }
};

// The sampler of a head.
struct SamplerTrace {
  at::Tensor score;  // [N]; undefined: the model's head has no sampler
  Pairs pairs;
};

// Filled by a pass whose context traces into it. Rows are those of the tokens as the model ordered them.
struct ForwardTrace {
  std::vector<at::Tensor> tokens;  // [N, width]: what enters the first layer, then what leaves each
  std::vector<AttentionTrace> layers;
  SamplerTrace head;
  at::Tensor order;  // int64 [N]: row of the input that each token belongs to; undefined: as given

  // Values [N, ...] of the tokens in the order of the input.
  at::Tensor in_input_order(const at::Tensor& values) const;
  // The input's rows of tokens' rows, int64.
  at::Tensor input_rows(const at::Tensor& rows) const;
};

// The trace of a pass on any device with its tensors on the CPU. Rows of attention are formed where the pass was, when
// they are asked for, and come to the CPU too.
ForwardTrace on_host(ForwardTrace trace);

// AttentionTrace::rows, without gradients: rows of the leaky relu probability sum to less than 1. Takes count *
// row_size memory: ask for few rows at once. Throws c10::Error for rows that are not there and for a pass over several
// items.
at::Tensor attention_rows(const AttentionTrace& layer, int64_t first, int64_t count);

// How much of the attention of query `row` falls on each token, [N, h]: that of a bin is shared between its top and its
// partner by their weights.
at::Tensor attention_on_tokens(const AttentionTrace& layer, int64_t row);

// How differently the heads look: for every token the mean over pairs of heads of the L2 distance between their
// attention to the keys, [N]; 0 for a single head. Works through the queries in chunks.
at::Tensor head_diversity(const AttentionTrace& layer);

}  // namespace geosft
