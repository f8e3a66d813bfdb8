// SPDX-License-Identifier: Apache-2.0
// Measures the redundancy of the heads of primal-dual attention by the distance between their attention matrices ("A
// Primal-Dual Framework for Transformers and Neural Networks").
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <optional>
#include <vector>

#include "models/layers/primal_mixing.h"

namespace geosft {

// Mean over the pairs of heads of the L2 distance between their attention. The attention of a pooled head is
// distributed over the tokens that it has pooled.
struct HeadDistances {
  at::Tensor tokens;  // [N], between the rows of each token
  at::Tensor items;   // [B], between the matrices [n, n] of each item, as in the paper
};

// Returns the head distances of x [N, d] packed by ptr, with at least two heads; arguments as for mix_primal_heads.
// Processes the queries in chunks, with n attention weights per query and head.
HeadDistances head_distances(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                             const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                             const RelativeEncoding& relative);

// Sums of head_distances over calls.
struct HeadDistanceSums {
  void add(const HeadDistances& found);

  double tokens = 0, items = 0;
  int64_t token_count = 0, item_count = 0;
};

// Means over all tokens and over all items that a layer has processed.
struct MeanHeadDistance {
  double tokens, items;
};

// Makes every PrimalSelfAttention in a module with at least two heads accumulate the head distances of its inputs from
// now on. Returns the number of these layers.
int64_t watch_heads(const torch::nn::Module& module);
// Returns the means of each watched layer that has processed tokens, in order.
std::vector<MeanHeadDistance> mean_head_distances(const torch::nn::Module& module);

}  // namespace geosft
