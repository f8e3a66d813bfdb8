// SPDX-License-Identifier: Apache-2.0
// Measures time and memory of attention, forward and backward, for different numbers of tokens and keys.
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
  bool all_tokens;        // every token is a key
  int64_t tokens, keys;   // per item
  double seconds, bytes;  // of the fastest call; peak memory of tensors beyond the inputs
};

// Measures one item with the width, heads and seed of `sizes`. Over sampled keys: maxout attention alone, with point
// distances, with graph edges (8 per node) and with sinusoids, softmax, linear attention and the polynomial of degree 2
// (heads of 8 channels), each for all numbers of tokens with the maximum of sizes.keys, and for all numbers of keys
// with the maximum number of tokens. Over all tokens: linear attention, the polynomial, and softmax up to
// `max_full_tokens` tokens. `told` receives each result immediately, and may throw.
std::vector<AttentionCost> attention_costs(const bench::Sizes& sizes, const std::vector<int64_t>& tokens,
                                           int64_t max_full_tokens, const bench::TimingOptions& options,
                                           const std::function<void(const AttentionCost&)>& told);

}  // namespace geosft
