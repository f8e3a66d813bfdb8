// SPDX-License-Identifier: Apache-2.0
// Cost of attention layers, forward and backward, by the numbers of tokens and keys.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/benchmark.h"
#include "tools/bench/timing.h"

namespace geosft {

struct AttentionCost {
  std::string attention;
  bool all_tokens;        // keys are the tokens
  int64_t tokens, keys;   // of one item
  double seconds, bytes;  // the fastest call; tensors beyond the inputs
};

// For one item of width, heads and seed of `sizes`. Over sampled keys: maxout attention alone, with distances of
// points, with edges of a graph (8 a node) and with sinusoids, softmax, linear attention and the polynomial of degree 2
// (heads of 8 channels), each for all numbers of tokens at the most of sizes.keys, and for all numbers of keys at the
// most tokens. Over all tokens: linear attention, the polynomial, and up to `max_full_tokens` tokens softmax. `told` is
// given each result as it comes; it may throw.
std::vector<AttentionCost> attention_costs(const bench::Sizes& sizes, const std::vector<int64_t>& tokens,
                                           int64_t max_full_tokens, const bench::TimingOptions& options,
                                           const std::function<void(const AttentionCost&)>& told);

}  // namespace geosft
