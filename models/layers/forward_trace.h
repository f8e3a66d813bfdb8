// SPDX-License-Identifier: Apache-2.0
// Records a forward pass for inspection: importance scores, samples and attention of every layer.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "models/layers/sampler.h"

namespace geosft {

// One layer of attention. Attention rows are not stored: attention_rows recomputes them.
struct AttentionTrace {
  int64_t items = 1, tokens = 0, heads = 0;  // of the pass
  // P of `count` queries from row `first` on over the keys, [count, keys, h], if the pass had one item. Keys are the
  // samples of a layer that samples, else all tokens; the weight of a pooled key is divided evenly among its tokens.
  std::function<at::Tensor(int64_t first, int64_t count)> rows;
  int64_t row_size = 0;  // elements of the largest tensor allocated per row
  // Undefined where the layer does not sample:
  at::Tensor score;  // importance [N], without noise
  Pairs pairs;       // the K samples: top, partner, weight

  bool samples() const { return score.defined(); }
};

// The sampler of a head.
struct SamplerTrace {
  at::Tensor score;  // [N]; undefined if the head has no sampler
  Pairs pairs;
};

// Filled by a pass whose context traces into it. Rows are tokens in the order of the model.
struct ForwardTrace {
  std::vector<at::Tensor> tokens;  // [N, width]: input of the first layer, then the output of each
  std::vector<AttentionTrace> layers;
  SamplerTrace head;
  at::Tensor order;  // int64 [N]: input row of each token; undefined: the order of the input

  // Returns values [N, ...] of the tokens in the order of the input.
  at::Tensor in_input_order(const at::Tensor& values) const;
  // Maps rows of tokens to rows of the input, int64.
  at::Tensor input_rows(const at::Tensor& rows) const;
};

// Copies the tensors of a trace from any device to the CPU. Attention rows are still computed on the device of the
// pass, on demand, and copied to the CPU too.
ForwardTrace on_host(ForwardTrace trace);

// Returns AttentionTrace::rows without gradients; rows of the leaky relu probability sum to less than 1. Takes count *
// row_size elements of memory: request few rows at once. Throws c10::Error for rows out of range and for a pass over
// several items.
at::Tensor attention_rows(const AttentionTrace& layer, int64_t first, int64_t count);

// Returns the attention of query `row` to each token, [N, h]: the attention to a sample is divided between its top and
// its partner by their weights.
at::Tensor attention_on_tokens(const AttentionTrace& layer, int64_t row);

// Returns the diversity of the heads [N]: for each token the mean, over pairs of heads, of the L2 distance between
// their attention rows; 0 for a single head. Processes the queries in chunks.
at::Tensor head_diversity(const AttentionTrace& layer);

}  // namespace geosft
