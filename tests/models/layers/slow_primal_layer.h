// SPDX-License-Identifier: Apache-2.0
// What the layers of the primal-dual family are held to: their definition in double precision, item by item, head by
// head and number by number, differentiated by autograd.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/layers/primal_self_attention.h"

namespace geosft::test {

// One head of one item.
struct SlowPrimalHead {
  const PrimalSelfAttentionImpl& layer;
  int64_t head;
  at::Tensor x;  // [n, d]

  int64_t factor() const { return layer.options.pool.empty() ? 1 : layer.options.pool[static_cast<size_t>(head)]; }
  int64_t channels() const { return layer.query->options.out_features() / layer.heads; }

  at::Tensor mapped(const torch::nn::Linear& map, const at::Tensor& rows) const {
    const int64_t from = head * channels(), to = from + channels();
    return at::matmul(rows, map->weight.slice(0, from, to).t()) + map->bias.slice(0, from, to);
  }

  // A group of tokens [m, d] as one token.
  at::Tensor pooled_group(const at::Tensor& rows) const {
    if (layer.options.pooling == PoolingKind::max) return std::get<0>(rows.max(0));
    if (layer.options.pooling == PoolingKind::average) return rows.mean(0);
    for (const at::Tensor& weight : layer.pooling) {
      if (weight.size(1) == factor()) return (rows * weight.t().slice(0, 0, rows.size(0))).sum(0);
    }
    return {};
  }
  at::Tensor pooled() const {
    if (factor() == 1) return x;
    std::vector<at::Tensor> groups;
    for (int64_t row = 0; row < x.size(0); row += factor())
      groups.push_back(pooled_group(x.slice(0, row, row + factor())));
    return at::stack(groups);
  }

  // Rows [n, c] convolved along the item, or on its grid.
  at::Tensor convolved(const at::Tensor& rows) const {
    if (layer.options.convolution == ConvolutionKind::none) return rows;
    const bool grid = layer.options.convolution == ConvolutionKind::grid;
    const int64_t size = layer.options.convolution_size, before = (size - 1) / 2;
    const int64_t width = grid ? layer.options.grid_width : 1, height = rows.size(0) / width;
    std::vector<at::Tensor> sums;
    for (int64_t i = 0; i < rows.size(0); ++i) {
      at::Tensor sum = at::zeros_like(rows[i]);
      for (int64_t a = 0; a < size; ++a) {
        for (int64_t b = 0; b < (grid ? size : 1); ++b) {
          const int64_t row = i / width + a - before, column = i % width + (grid ? b - before : 0);
          if (row < 0 || row >= height || column < 0 || column >= width) continue;
          const at::Tensor weight = grid ? layer.convolution[head][a][b] : layer.convolution[head][a];
          sum = sum + weight * rows[row * width + column];
        }
      }
      sums.push_back(sum);
    }
    return at::stack(sums);
  }

  // Whether token i sees one of the tokens of group j.
  bool seen(int64_t i, int64_t j) const {
    const int64_t end = std::min((j + 1) * factor(), x.size(0)), size = layer.options.mask_size;
    for (int64_t t = j * factor(); t < end; ++t) {
      const int64_t apart = std::abs(t - i);
      if (layer.options.mask == MaskKind::none) return true;
      if (layer.options.mask == MaskKind::window && apart <= size) return true;
      if (layer.options.mask == MaskKind::strided && (apart < size || apart % size == 0)) return true;
      if (layer.options.mask == MaskKind::block && t / size == i / size) return true;
    }
    return false;
  }

  at::Tensor weight(const at::Tensor& q, const at::Tensor& k) const {
    if (!layer.options.linear) return ((q * k).sum() / std::sqrt(static_cast<double>(channels()))).exp();
    const auto phi = [](const at::Tensor& u) { return at::where(u > 0, u + 1, u.clamp_max(0).exp()); };
    return (phi(q) * phi(k)).sum();
  }

  // The attention of every token on every pooled one, [n, m].
  at::Tensor attention() const {
    at::Tensor q = convolved(mapped(layer.query, x)), k = convolved(mapped(layer.key, pooled()));
    const at::Tensor mean = k.mean(0);
    if (layer.options.variance) {
      const at::Tensor deviation = ((k - mean).square().mean(0) + layer.options.eps).sqrt();
      q = (q - mean) / deviation;
      k = (k - mean) / deviation;
    } else if (layer.beta.defined()) {
      const at::Tensor beta = layer.beta.dim() == 0 ? layer.beta : layer.beta[head];
      q = q - beta * mean;
      k = k - beta * mean;
    }
    std::vector<at::Tensor> rows;
    for (int64_t i = 0; i < q.size(0); ++i) {
      std::vector<at::Tensor> weights;
      for (int64_t j = 0; j < k.size(0); ++j)
        weights.push_back(seen(i, j) ? weight(q[i], k[j]) : at::zeros_like(q[0][0]));
      const at::Tensor row = at::stack(weights);
      rows.push_back(row / (row.sum() + (layer.options.linear ? layer.options.eps : 0.0)));
    }
    return at::stack(rows);
  }

  at::Tensor result() const { return at::matmul(attention(), mapped(layer.value, pooled())); }

  // The attention of every token on every token: a pooled one's is shared equally.
  at::Tensor attention_on_tokens() const {
    const at::Tensor all = attention();
    std::vector<at::Tensor> columns;
    for (int64_t t = 0; t < x.size(0); ++t) {
      const int64_t group = t / factor(), first = group * factor();
      columns.push_back(all.select(1, group) / static_cast<double>(std::min(factor(), x.size(0) - first)));
    }
    return at::stack(columns, 1);
  }
};

// The layer over packed items.
inline at::Tensor slow_primal_layer(PrimalSelfAttention& layer, const at::Tensor& x,
                                    const std::vector<int64_t>& offsets) {
  std::vector<at::Tensor> items;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const at::Tensor rows = x.slice(0, offsets[b], offsets[b + 1]);
    if (rows.size(0) == 0) continue;
    std::vector<at::Tensor> heads;
    for (int64_t s = 0; s < layer->heads; ++s) heads.push_back(SlowPrimalHead{*layer, s, rows}.result());
    items.push_back(at::cat(heads, 1));
  }
  return layer->output->forward(at::cat(items));
}

}  // namespace geosft::test
