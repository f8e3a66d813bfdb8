// SPDX-License-Identifier: Apache-2.0
// The members of the primal-dual attention family, by name and option by option.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers/token_pooling.h"

namespace geosft {

enum class MaskKind {
  none,
  window,      // tokens at most mask_size places away
  strided,     // the stride is mask_size
  block,       // of mask_size tokens
  nearest,     // the mask_size nearest points; needs the coordinates of Relative
  neighbours,  // of the graph of Relative
};

// The kind of that name; an error naming all of them for another one.
MaskKind mask_kind(const std::string& name);

enum class ConvolutionKind { none, sequence, grid };

// Any of these with any other, but for a grid with pooled keys or k_means with a mask.
struct PrimalOptions {
  bool linear = false;             // features elu + 1 instead of the exponential; not with a mask
  MaskKind mask = MaskKind::none;  // sparse attention
  int64_t mask_size = 16;          // its radius, stride, block or count
  double beta = 0.0;               // weight of the keys' mean that queries and keys are recentred by (Attention-BN)
  bool learn_beta = false;         // of each head, beginning with `beta`
  bool share_beta = false;         // learned, too: one of all heads
  bool variance = false;           // recentre by the whole mean and divide by the keys' deviation instead
  std::vector<int64_t> pool = {};  // pooling factor of every head (Attention-SH); empty: 1
  PoolingKind pooling = PoolingKind::average;
  ConvolutionKind convolution = ConvolutionKind::none;  // of queries and keys
  int64_t convolution_size = 5;
  int64_t grid_height = 0, grid_width = 0;  // tokens of an item, for that on a grid
  double eps = 1e-6;                        // of linear attention's denominator; of the variance
};

// The factors that head after head are given without being asked for: those of the paper for 2, 4 and 8 heads ([1, 2],
// [1, 1, 2, 4], [1, 1, 2, 2, 4, 4, 8, 8]).
std::vector<int64_t> default_pool(int64_t heads);

// The registry: softmax, bn, bn_variance, sh, bn_sh, conv1d and conv2d; linear instead of softmax, and linear_ before
// the others, for linear attention; sparse and sparse_ for a mask, a window unless another is chosen.
const std::vector<std::string>& primal_names();
// The member of that name; an error naming all of them for another one.
PrimalOptions primal_options(const std::string& name, int64_t heads);

}  // namespace geosft
