// SPDX-License-Identifier: Apache-2.0
// Options of the primal-dual attention family, and its members by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers/token_pooling.h"

namespace geosft {

enum class MaskKind {
  none,
  window,      // tokens at a distance of at most mask_size in the sequence
  strided,     // the stride is mask_size; 0: the square root of the number of tokens of an item
  block,       // blocks of mask_size tokens
  nearest,     // the mask_size nearest points; needs the coordinates of RelativeEncoding
  neighbours,  // neighbours in the graph of RelativeEncoding
};

enum class ConvolutionKind { none, sequence, grid };

// All options can be combined, except a grid with pooled keys, and k_means with a mask.
struct PrimalOptions {
  bool linear = false;             // features elu + 1 instead of the exponential; not with a mask
  MaskKind mask = MaskKind::none;  // sparse attention
  int64_t mask_size = 16;          // its radius, stride, block or count
  double beta = 0.0;               // weight of the keys' mean that queries and keys are recentred by (Attention-BN)
  bool learn_beta = false;         // learned per head, initialised with `beta`
  bool share_beta = false;         // with learn_beta: one beta for all heads
  bool variance = false;           // instead, normalise by the mean and the standard deviation of the keys
  std::vector<int64_t> pool = {};  // pooling factor of every head (Attention-SH); empty: 1
  PoolingKind pooling = PoolingKind::average;
  ConvolutionKind convolution = ConvolutionKind::none;  // of queries and keys
  int64_t convolution_size = 5;
  int64_t grid_height = 0, grid_width = 0;  // tokens of an item, for that on a grid
  bool class_token = false;                 // the first token of an item stands outside its grid and is not convolved
  double eps = 1e-6;                        // of linear attention's denominator; of the variance
};

// Returns the default pooling factors per head: those of the paper for 2, 4 and 8 heads ([1, 2], [1, 1, 2, 4], [1, 1,
// 2, 2, 4, 4, 8, 8]).
std::vector<int64_t> default_pool(int64_t heads);

// The attentions of one kernel. The names: softmax, bn, bn_variance, sh, bn_sh, conv1d and conv2d; for linear attention
// `linear` and the prefix `linear_`; for masked attention `sparse` and the prefix `sparse_` (strided by the square root
// of the number of tokens, unless another mask is chosen).
struct PrimalKernel {
  std::string name;
  std::vector<std::string> members;  // the kernel itself first
};
// Returns the kernels, softmax first.
const std::vector<PrimalKernel>& primal_kernels();
// Returns the names of the members of all kernels.
const std::vector<std::string>& primal_names();
// Returns the options of that member; throws an error that lists all names for an unknown one.
PrimalOptions primal_options(const std::string& name, int64_t heads);

}  // namespace geosft
