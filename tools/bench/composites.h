// SPDX-License-Identifier: Apache-2.0
// Baselines: attention composed from LibTorch's operations (contiguous heads-first inputs, and as few passes over n x k
// numbers as autograd permits), plain searches of points, and a transformer encoder layer.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformerlayer.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "tools/bench/attention_inputs.h"

namespace geosft::bench {

inline constexpr double attention_eps = 1e-6;

// The attention bias of all pairs, [B, h, n, m]; undefined: 1 and 0.
struct DenseBias {
  at::Tensor mul, add;
};

// Linear maps from X_R to heads; w_* [r, h], b_* [h].
struct BiasWeights {
  at::Tensor w_mul, b_mul, w_add, b_add;
};

// softmax(q k^T / sqrt(c)) v with LibTorch's fused operator: a different function with the same shapes.
at::Tensor softmax_attention(const HeadsFirstInputs& inputs);

// Maxout attention with cdist: max(a, b) = (a + b + |a - b|) / 2, and cdist with p = 1 sums |a - b|.
at::Tensor cdist_attention(const HeadsFirstInputs& inputs, const DenseBias& bias = {});

// Maxout attention by broadcasting q against k in blocks [B, h, rows, m, c], with as many query rows as fit into
// `block_bytes`.
at::Tensor broadcast_attention(const HeadsFirstInputs& inputs, const DenseBias& bias = {},
                               int64_t block_bytes = int64_t{64} << 20);

// softplus(X_R w_mul + b_mul) and X_R w_add + b_add for X_R [B, r, n, m].
DenseBias linear_bias(const at::Tensor& channels, const BiasWeights& weights);

// X_R of points: squared distances of x [B, n, 3] and xs [B, m, 3] and, if defined, dot products of the normals and,
// with `angles`, those of both normals and xs - x; [B, r, n, m].
at::Tensor point_channels(const at::Tensor& x, const at::Tensor& xs, const at::Tensor& normals,
                          const at::Tensor& sampled_normals, bool angles = false);

// The attention bias of sequences without forming X_R: s [B, n, ds], ss [B, m, ds].
DenseBias sequence_bias(const at::Tensor& s, const at::Tensor& ss, const BiasWeights& weights);

// Farthest point sampling by the O(n m) loop: float32 points [n, 3], rows int64 [min(m, n)], the same rows as
// geosft::farthest_point_sampling with start 0.
at::Tensor plain_farthest_points(const at::Tensor& points, int64_t m);

// Nearest neighbours with nanoflann, used as in its documentation: float32 points [n, 3], the k nearest of each point
// among all points. Returns squared distances [n, k] in ascending order, k <= n. One tree; the queries run on ATen's
// thread pool.
at::Tensor plain_neighbour_distances(const at::Tensor& points, int64_t k);

// Computes Python's nn.TransformerEncoderLayer in training without dropout (post-norm, GELU): a joint projection of q,
// k and v, and fused softmax attention. The C++ module torch::nn::TransformerEncoderLayer materializes its n x n
// weights and is slower; both are measured.
class SdpaEncoderLayerImpl : public torch::nn::Module {
 public:
  SdpaEncoderLayerImpl(int64_t width, int64_t heads, int64_t hidden);
  // x [B, n, width].
  at::Tensor forward(const at::Tensor& x);
  // Copies the weights of the C++ module, whose input is [n, B, width].
  void copy_from(torch::nn::TransformerEncoderLayerImpl& other);

  int64_t heads;
  torch::nn::Linear projections{nullptr}, output{nullptr}, expand{nullptr}, contract{nullptr};
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
};
TORCH_MODULE(SdpaEncoderLayer);

}  // namespace geosft::bench
