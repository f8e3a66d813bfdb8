// SPDX-License-Identifier: Apache-2.0
// How differently the heads of primal-dual attention look ("A Primal-Dual Framework for Transformers and Neural
// Networks", on the redundancy of heads).
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <optional>
#include <vector>

#include "models/layers/primal_mixing.h"

namespace geosft {

// Mean over the pairs of heads of the L2 distance between their attention, which for a head that pools falls on the
// tokens that it has pooled.
struct HeadDistances {
  at::Tensor tokens;  // [N], between the rows of a token
  at::Tensor items;   // [B], between the matrices [n, n] of an item, the paper's
};

// Of x [N, d] packed by ptr, at least two heads; arguments as of mix_primal_heads. Forms the attention of some
// queries at a time, n numbers each a head.
HeadDistances head_distances(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                             const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                             const Relative& relative);

// Sums of head_distances over calls.
struct HeadDistanceSums {
  void add(const HeadDistances& found);

  double tokens = 0, items = 0;
  int64_t token_count = 0, item_count = 0;
};

// Means over all tokens and over all items that have passed a layer.
struct MeanHeadDistance {
  double tokens, items;
};

// From here on every PrimalSelfAttention of several heads below a module adds up the distances of what passes it. How
// many layers these are.
int64_t watch_heads(const torch::nn::Module& module);
// Of each layer that has been watched and passed, in their order.
std::vector<MeanHeadDistance> mean_head_distances(const torch::nn::Module& module);

}  // namespace geosft
