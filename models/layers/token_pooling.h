// SPDX-License-Identifier: Apache-2.0
// Fewer tokens for the keys and values of scaled heads (Attention-SH: "A Primal-Dual Framework for Transformers and
// Neural Networks", definition 2).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

enum class PoolingKind {
  average,      // mean of each `factor` neighbours
  max,          // their maximum, channel by channel
  convolution,  // their sum weighted by place and channel: a depth-wise convolution of that stride
  k_means,      // as many clusters, wherever their tokens lie
};

// The kind of that name: average, max, convolution or k_means; an error naming them for another one.
PoolingKind pooling_kind(const std::string& name);

struct PooledTokens {
  at::Tensor x;                  // [sum of the items' pooled tokens, d]
  std::vector<int64_t> offsets;  // of the items in it
  at::Tensor group;              // int64 [N]: the row of x that each token went into; an empty cluster has none
};

// x [N, d], items `offsets`, factor >= 1: ceil(n / factor) tokens of an item of n. The last group of an item may be
// shorter. weight [d, factor] is that of a convolution. With k_means, centres begin at evenly spaced tokens, so the
// result is determined by x alone; a cluster that ends up empty is its last centre; time and memory are
// O(n^2 / factor) an item. Differentiable in x and weight; which token belongs to which cluster, and the centre of an
// empty one, are not.
PooledTokens pool_tokens(const at::Tensor& x, const std::vector<int64_t>& offsets, int64_t factor, PoolingKind kind,
                         const at::Tensor& weight = {});

}  // namespace geosft
