// SPDX-License-Identifier: Apache-2.0
// What attention costs against tokens and keys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"

namespace geosft {

struct AttentionCost {
  std::string attention;  // "sampling, k = 32"
  int64_t tokens, keys;
  double seconds;  // forward and backward of one item, the least of several
  double bytes;    // of tensors beyond the inputs
};

// Forward and backward of one item for each number of tokens: ours over each number of keys (maxout_attention and
// point_attention), the polynomial over all tokens (degree 2), and LibTorch's softmax attention over all tokens up to
// `most_full` of them. `told` is given each result as it comes; it may throw.
std::vector<AttentionCost> attention_costs(const bench::Sizes& sizes, const std::vector<int64_t>& tokens,
                                           int64_t most_full, const bench::TimingOptions& options,
                                           const std::function<void(const AttentionCost&)>& told);

}  // namespace geosft
