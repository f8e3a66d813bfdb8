// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include <cmath>

namespace geosft::bench {
namespace {

double score_scale(const at::Tensor& q) {
  return 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
}

// relu(score * mul + add) v, normalised by row sums plus leaks. Dividing after the product with v costs n x c, not n x
// m.
at::Tensor normalised(at::Tensor score, const DenseBias& bias, const HeadsFirstInputs& inputs) {
  if (bias.mul.defined()) score = score * bias.mul;
  if (bias.add.defined()) score = score.add_(bias.add);
  const at::Tensor positive = score.relu_();
  const at::Tensor leaks = at::softplus(inputs.leak).sum(-1).unsqueeze(-1) + attention_eps;
  return at::matmul(positive, inputs.v) / (positive.sum(-1) + leaks).unsqueeze(-1);
}

DenseBias rows_of(const DenseBias& bias, int64_t begin, int64_t count) {
  const auto rows = [&](const at::Tensor& all) { return all.defined() ? all.narrow(2, begin, count) : all; };
  return {rows(bias.mul), rows(bias.add)};
}

}  // namespace

at::Tensor softmax_attention(const HeadsFirstInputs& inputs) {
  return at::scaled_dot_product_attention(inputs.q, inputs.k, inputs.v);
}

at::Tensor cdist_attention(const HeadsFirstInputs& inputs, const DenseBias& bias) {
  const double half = 0.5 * score_scale(inputs.q);
  const at::Tensor q = inputs.q * half, k = inputs.k * half;
  const at::Tensor score = at::cdist(q, k, 1.0) + q.sum(-1, /*keepdim=*/true);
  return normalised(score.add_(k.sum(-1).unsqueeze(2)), bias, inputs);
}

at::Tensor broadcast_attention(const HeadsFirstInputs& inputs, const DenseBias& bias, int64_t block_bytes) {
  const at::Tensor q = inputs.q * score_scale(inputs.q), k = (inputs.k * score_scale(inputs.q)).unsqueeze(2);
  const int64_t row_bytes = inputs.k.numel() * static_cast<int64_t>(sizeof(float));
  const int64_t block = std::max<int64_t>(1, block_bytes / row_bytes);
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < q.size(2); begin += block) {
    const int64_t count = std::min(block, q.size(2) - begin);
    const at::Tensor score = at::maximum(q.narrow(2, begin, count).unsqueeze(3), k).sum(-1);
    parts.push_back(normalised(score, rows_of(bias, begin, count), inputs));
  }
  return at::cat(parts, 2);
}

DenseBias linear_bias(const at::Tensor& channels, const BiasWeights& weights) {
  const int64_t batch = channels.size(0), rows = channels.size(2), columns = channels.size(3);
  const at::Tensor x = channels.view({batch, channels.size(1), rows * columns});
  const auto map = [&](const at::Tensor& w, const at::Tensor& b) {
    const at::Tensor mapped = at::matmul(w.t(), x).add_(b.unsqueeze(-1));
    return mapped.view({batch, w.size(1), rows, columns});
  };
  return {at::softplus(map(weights.w_mul, weights.b_mul)), map(weights.w_add, weights.b_add)};
}

at::Tensor point_channels(const at::Tensor& x, const at::Tensor& xs, const at::Tensor& normals,
                          const at::Tensor& sampled_normals, bool angles) {
  const at::Tensor squares = x.square().sum(-1, /*keepdim=*/true), sampled = xs.square().sum(-1).unsqueeze(1);
  const at::Tensor distance = at::baddbmm(squares + sampled, x, xs.transpose(1, 2), 1, -2);
  if (!normals.defined()) return distance.unsqueeze(1);
  const at::Tensor product = at::bmm(normals, sampled_normals.transpose(1, 2));
  if (!angles) return at::stack({distance, product}, 1);
  const at::Tensor at_query = (normals * x).sum(-1, /*keepdim=*/true),
                   at_key = (sampled_normals * xs).sum(-1).unsqueeze(1);
  return at::stack({distance, product, at::bmm(normals, xs.transpose(1, 2)) - at_query,
                    at_key - at::bmm(x, sampled_normals.transpose(1, 2))},
                   1);
}

DenseBias sequence_bias(const at::Tensor& s, const at::Tensor& ss, const BiasWeights& weights) {
  // sum_t w[t, h] s[i, t] ss[j, t]: the weights multiply the factor with fewer rows.
  const auto map = [&](const at::Tensor& w, const at::Tensor& b) {
    const at::Tensor weighted = ss.unsqueeze(1) * w.t().unsqueeze(1).unsqueeze(0);
    return at::matmul(s.unsqueeze(1), weighted.transpose(2, 3)).add_(b.view({1, -1, 1, 1}));
  };
  return {at::softplus(map(weights.w_mul, weights.b_mul)), map(weights.w_add, weights.b_add)};
}

}  // namespace geosft::bench
