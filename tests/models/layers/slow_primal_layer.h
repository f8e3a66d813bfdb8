// SPDX-License-Identifier: Apache-2.0
// What the layers of the primal-dual family are held to: their definition in double precision, item by item, head by
// head and number by number, differentiated by autograd.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/layers/primal_self_attention.h"

namespace geosft::test {

// One head of one item.
struct SlowPrimalHead {
  const PrimalSelfAttentionImpl& layer;
  int64_t head;
  at::Tensor x;                    // [n, d]
  RelativeEncoding relative = {};  // of the whole batch
  int64_t begin = 0;               // row of the batch that is the item's first

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
  // After five rounds of k-means that began at `count` evenly spaced tokens: the mean of the tokens that a cluster had
  // last, which is a constant where it has none in the end.
  std::vector<at::Tensor> cluster_means(int64_t count) const {
    const int64_t n = x.size(0);
    std::vector<at::Tensor> means;
    for (int64_t g = 0; g < count; ++g) means.push_back(x[(2 * g + 1) * n / (2 * count)]);
    std::vector<int64_t> cluster(static_cast<size_t>(n));
    for (int round = 0; round < 5; ++round) {
      for (at::Tensor& mean : means) mean = mean.detach();
      for (int64_t i = 0; i < n; ++i) cluster[static_cast<size_t>(i)] = nearest_of(means, x.detach()[i]);
      for (int64_t g = 0; g < count; ++g) {
        if (const auto members = members_of(cluster, g, x); !members.empty())
          means[static_cast<size_t>(g)] = at::stack(members).mean(0);
      }
    }
    return means;
  }
  static int64_t nearest_of(const std::vector<at::Tensor>& centres, const at::Tensor& row) {
    int64_t nearest = 0;
    double minimum = std::numeric_limits<double>::infinity();
    for (size_t g = 0; g < centres.size(); ++g) {
      const double distance = (row - centres[g]).square().sum().item<double>();
      if (distance < minimum) nearest = static_cast<int64_t>(g);
      minimum = std::min(minimum, distance);
    }
    return nearest;
  }
  static std::vector<at::Tensor> members_of(const std::vector<int64_t>& cluster, int64_t group,
                                            const at::Tensor& rows) {
    std::vector<at::Tensor> members;
    for (size_t i = 0; i < cluster.size(); ++i) {
      if (cluster[i] == group) members.push_back(rows[static_cast<int64_t>(i)]);
    }
    return members;
  }
  at::Tensor pooled() const {
    if (factor() == 1) return x;
    if (layer.options.pooling == PoolingKind::k_means) return at::stack(cluster_means((x.size(0) - 1) / factor() + 1));
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

  // Fewer than mask_size tokens of the item are nearer to i than t.
  bool near(int64_t i, int64_t t) const {
    const auto distance = [&](int64_t j) {
      return (relative.coordinates[begin + i] - relative.coordinates[begin + j]).square().sum().item<double>();
    };
    int64_t nearer = 0;
    for (int64_t j = 0; j < x.size(0); ++j) nearer += distance(j) < distance(t) ? 1 : 0;
    return nearer < layer.options.mask_size;
  }
  // The graph has an edge from i to t.
  bool joined(int64_t i, int64_t t) const {
    const auto end = relative.rowptr[begin + i + 1].item<int64_t>();
    for (auto e = relative.rowptr[begin + i].item<int64_t>(); e < end; ++e) {
      if (relative.col[e].item<int64_t>() == begin + t) return true;
    }
    return false;
  }
  bool token_seen(int64_t i, int64_t t) const {
    const int64_t apart = std::abs(t - i), given = layer.options.mask_size;
    const int64_t size = given > 0 ? given : std::lround(std::sqrt(static_cast<double>(x.size(0))));  // of strides
    switch (layer.options.mask) {
      case MaskKind::window:
        return apart <= size;
      case MaskKind::strided:
        return apart < size || apart % size == 0;
      case MaskKind::block:
        return t / size == i / size;
      case MaskKind::nearest:
        return near(i, t);
      case MaskKind::neighbours:
        return t == i || joined(i, t);
      default:
        return true;
    }
  }
  // Whether token i sees one of the tokens of group j.
  bool seen(int64_t i, int64_t j) const {
    if (layer.options.mask == MaskKind::none) return true;
    const int64_t end = std::min((j + 1) * factor(), x.size(0));
    for (int64_t t = j * factor(); t < end; ++t) {
      if (token_seen(i, t)) return true;
    }
    return false;
  }

  at::Tensor weight(const at::Tensor& q, const at::Tensor& k) const {
    if (!layer.options.linear) return ((q * k).sum() / std::sqrt(static_cast<double>(channels()))).exp();
    const auto phi = [](const at::Tensor& u) { return at::where(u > 0, u + 1, u.masked_fill(u > 0, 0).exp()); };
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
                                    const std::vector<int64_t>& offsets,
                                    const RelativeEncoding& relative = RelativeEncoding::none()) {
  std::vector<at::Tensor> items;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const at::Tensor rows = x.slice(0, offsets[b], offsets[b + 1]);
    if (rows.size(0) == 0) continue;
    std::vector<at::Tensor> heads;
    for (int64_t s = 0; s < layer->heads; ++s)
      heads.push_back(SlowPrimalHead{*layer, s, rows, relative, offsets[b]}.result());
    items.push_back(at::cat(heads, 1));
  }
  return layer->output->forward(at::cat(items));
}

}  // namespace geosft::test
