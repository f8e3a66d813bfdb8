// SPDX-License-Identifier: Apache-2.0
// The primal-dual attention family over all tokens, as a layer and by name.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <optional>
#include <string>
#include <vector>

#include "geometry/packed.h"
#include "models/layers/forward_trace.h"
#include "models/layers/relative.h"
#include "models/layers/sparse_masks.h"
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

// Maps of tokens to heads, as torch::nn::Linear has them ([h c, d] and [h c], those of values [h cv, d] and [h cv];
// biases may be undefined), and what the options have parameters for: beta [] or [h], convolution [h, s] or [h, s, s],
// pooling one [d, factor] a factor above 1, in the order in which factors appear first in `pool`.
struct PrimalWeights {
  at::Tensor w_q, b_q, w_k, b_k, w_v, b_v;
  at::Tensor beta, convolution;
  std::vector<at::Tensor> pooling;
};

// What is mixed before W_O, [N, h, cv]: x [N, d] packed by ptr. Keys and values of a scaled head are made of the pooled
// tokens alone.
at::Tensor mix_primal_heads(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                            const PrimalOptions& options, const std::optional<at::Tensor>& ptr,
                            const Relative& relative);

// How much the queries first … first + count - 1 of x [N, d], one item, look at each token: [count, N, h]. What a pooled
// key is given is shared evenly by its tokens. Forms count x N numbers a head.
at::Tensor primal_attention_rows(const at::Tensor& x, int64_t heads, const PrimalWeights& weights,
                                 const PrimalOptions& options, const Relative& relative, int64_t first, int64_t count);

// Queries and keys recentred by the mean of their item's keys and divided by the keys' deviation, both of every head
// and channel: (q - mu) / sqrt(var + eps), variance of the population.
struct NormalizedHeads {
  at::Tensor q, k;
};
NormalizedHeads normalized_by_keys(const at::Tensor& q, const at::Tensor& k, double eps, const OffsetPair& offsets);

// How differently heads answer: of mixed [N, h, cv], h >= 2, the L2 distance between the results of two heads for a
// token, mean over the pairs, [N].
at::Tensor head_distance(const at::Tensor& mixed);

// concat_h(attention) W_O + b_O; no residual, no norm.
class PrimalSelfAttentionImpl : public torch::nn::Module {
 public:
  PrimalSelfAttentionImpl(int64_t width, int64_t heads, const PrimalOptions& options);

  // x [N, width] packed by ptr (int64 [B + 1], or none): [N, width]. Of `relative` only what the mask needs is looked
  // at.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, const Relative& relative);
  // What such a call does, for people to look at.
  AttentionTrace trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr, const Relative& relative) const;

  int64_t heads;
  PrimalOptions options;
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};
  at::Tensor beta, convolution;     // undefined where the options have none
  std::vector<at::Tensor> pooling;  // of a convolution, one a factor above 1
  // Where it is there, calls add what head_distance says of their tokens.
  struct Distances {
    double sum = 0;
    int64_t tokens = 0;
  };
  std::optional<Distances> distances;

 private:
  void check() const;
  void register_extras(int64_t width);
  PrimalWeights all_weights() const;
};
TORCH_MODULE(PrimalSelfAttention);

// Begins anew to add up `distances` in all such layers of several heads below a module.
void watch_heads(const torch::nn::Module& module);
// The mean distance of each layer that has been watched, in their order.
std::vector<double> mean_head_distances(const torch::nn::Module& module);

}  // namespace geosft
