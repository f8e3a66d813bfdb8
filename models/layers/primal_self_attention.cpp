// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_self_attention.h"

#include <algorithm>

#include "models/ops/primal_heads.h"

namespace geosft {

PrimalSelfAttentionImpl::PrimalSelfAttentionImpl(int64_t width, int64_t head_count,
                                                 const PrimalOptions& attention_options)
    : heads(head_count), options(attention_options) {
  TORCH_CHECK(heads >= 1 && width % heads == 0, "heads must divide width ", width, ", got ", heads);
  check();
  query = register_module("query", torch::nn::Linear(width, width));
  key = register_module("key", torch::nn::Linear(width, width));
  value = register_module("value", torch::nn::Linear(width, width));
  output = register_module("output", torch::nn::Linear(width, width));
  register_extras(width);
}

void PrimalSelfAttentionImpl::check() const {
  TORCH_CHECK(options.pool.empty() || static_cast<int64_t>(options.pool.size()) == heads,
              "pool must have a factor a head, ", heads, ", got ", options.pool.size());
  for (const int64_t factor : options.pool)
    TORCH_CHECK(factor >= 1, "pool must have factors of at least 1, got ", factor);
  const bool pooled = std::any_of(options.pool.begin(), options.pool.end(), [](int64_t factor) { return factor > 1; });
  const bool masked = options.mask != MaskKind::none, grid = options.convolution == ConvolutionKind::grid;
  TORCH_CHECK(!(options.linear && masked), "mask must be none with linear attention: a sum of features has no mask");
  TORCH_CHECK(!(pooled && masked && options.pooling == PoolingKind::k_means),
              "pooling must not be k_means with a mask: clusters have no place in the item");
  TORCH_CHECK(!(pooled && grid), "pool must be 1 with convolution on a grid: pooled tokens are not one");
  TORCH_CHECK(!grid || (options.grid_height >= 1 && options.grid_width >= 1),
              "grid_height and grid_width must be at least 1 for convolution on a grid, got ", options.grid_height,
              " and ", options.grid_width);
  TORCH_CHECK(!(options.variance && (options.beta != 0 || options.learn_beta)),
              "beta must be 0 with variance, which recentres by the whole mean");
  TORCH_CHECK(!options.share_beta || options.learn_beta, "share_beta must be false where no beta is learned");
  TORCH_CHECK(options.convolution_size >= 1, "convolution_size must be at least 1, got ", options.convolution_size);
}

void PrimalSelfAttentionImpl::register_extras(int64_t width) {
  const int64_t size = options.convolution_size;
  if (options.learn_beta) {
    const at::Tensor begin = at::scalar_tensor(options.beta);
    beta = register_parameter("beta", options.share_beta ? begin : begin.repeat({heads}));
  } else if (options.beta != 0) {
    beta = register_buffer("beta", at::scalar_tensor(options.beta));
  }
  // Convolutions are initialised near the identity, which gives softmax attention, and pooling with the mean of a
  // group.
  if (options.convolution != ConvolutionKind::none) {
    const bool line = options.convolution == ConvolutionKind::sequence;
    at::Tensor kernel = at::randn(line ? at::IntArrayRef({heads, size}) : at::IntArrayRef({heads, size, size})) * 0.1;
    const int64_t middle = (size - 1) / 2;
    (line ? kernel.select(1, middle) : kernel.select(1, middle).select(1, middle)) += 1;
    convolution = register_parameter("convolution", kernel);
  }
  if (options.pooling != PoolingKind::convolution || options.pool.empty()) return;
  for (const HeadGroup& group : head_groups(options.pool, heads)) {
    if (group.factor == 1) continue;
    const at::Tensor mean = at::full({width, group.factor}, 1.0 / static_cast<double>(group.factor));
    pooling.push_back(register_parameter("pooling_" + std::to_string(group.factor), mean));
  }
}

at::Tensor PrimalSelfAttentionImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                            const RelativeEncoding& relative) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == query->options.in_features(), "x must have shape [N, ",
              query->options.in_features(), "], got ", x.sizes());
  const at::Tensor mixed = mix_primal_heads(x, heads, all_weights(), options, ptr, relative);
  if (distances) distances->add(head_distances(x, heads, all_weights(), options, ptr, relative));
  return output->forward(mixed.reshape(x.sizes()));
}

PrimalWeights PrimalSelfAttentionImpl::all_weights() const {
  return {query->weight, query->bias, key->weight, key->bias, value->weight, value->bias, beta, convolution, pooling};
}

AttentionTrace PrimalSelfAttentionImpl::trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                              const RelativeEncoding& relative) const {
  AttentionTrace found{ptr ? ptr->size(0) - 1 : 1, x.size(0), heads, {}, x.size(0) * heads, {}, {}};
  found.rows = [x, relative, heads = heads, weights = all_weights(), options = options](int64_t first, int64_t count) {
    return primal_attention_rows(x, heads, weights, options, relative, first, count);
  };
  return found;
}

}  // namespace geosft
