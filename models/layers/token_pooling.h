// SPDX-License-Identifier: Apache-2.0
// Pools tokens for the keys and values of scaled heads (Attention-SH: "A Primal-Dual Framework for Transformers and
// Neural Networks", definition 2).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

enum class PoolingKind {
  average,      // mean of `factor` consecutive tokens
  max,          // their maximum per channel
  convolution,  // a depth-wise convolution with kernel size and stride `factor`
  k_means,      // means of as many k-means clusters
};

struct PooledTokens {
  at::Tensor x;                  // [sum of the items' pooled tokens, d]
  std::vector<int64_t> offsets;  // of the items in x
  at::Tensor group;              // int64 [N]: the row of x that each token was pooled into (none for an empty cluster)
};

// x [N, d], items `offsets`, factor >= 1: an item of n tokens gives ceil(n / factor). The last group of an item may be
// shorter. weight [d, factor] is that of a convolution. With k_means, centres start at evenly spaced tokens, so the
// result is determined by x alone; an empty cluster keeps its last centre; time and memory are O(n^2 / factor) per
// item. Differentiable in x and weight, but not in the assignment to clusters and the centres of empty ones.
PooledTokens pool_tokens(const at::Tensor& x, const std::vector<int64_t>& offsets, int64_t factor, PoolingKind kind,
                         const at::Tensor& weight = {});

}  // namespace geosft
