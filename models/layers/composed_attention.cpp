// SPDX-License-Identifier: Apache-2.0
#include "models/layers/composed_attention.h"

#include <cmath>

#include "geometry/deterministic_scatter_sum.h"
#include "geometry/device_offsets.h"
#include "geometry/no_autocast.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

using Span = AttentionSpan;

// LibTorch's softplus is the identity beyond a threshold, by default 20, where it leaves out e^-20 = 2e-9; at 40 what
// it leaves out is below the rounding of float64.
at::Tensor exact_softplus(const at::Tensor& x) {
  return at::softplus(x, /*beta=*/1, /*threshold=*/40);
}

// Returns [n, k, h].
DenseAttentionBias transform(const at::Tensor& encoding, const RelativeMaps& weights) {
  const NoAutocast no_autocast;  // like the fused operators, which compute it in the type of the weights
  return {exact_softplus(at::matmul(encoding, weights.w_mul) + weights.b_mul),
          at::matmul(encoding, weights.w_add) + weights.b_add};
}

// Returns the first `channels` channels of point_attention, [n, k, channels].
at::Tensor point_encoding(const RelativeEncoding& relative, const Pairs& pairs, int64_t channels, const Span& span) {
  const auto queries = [&](const at::Tensor& rows) { return rows.narrow(0, span.query, span.queries).unsqueeze(1); };
  const auto keys = [&](const at::Tensor& rows) { return rows.narrow(0, span.key, span.keys).unsqueeze(0); };
  const at::Tensor apart = keys(pairs.sample(relative.coordinates)) - queries(relative.coordinates);
  std::vector<at::Tensor> encoding = {apart.square().sum(-1)};
  if (relative.normals.defined()) {
    const at::Tensor normals = queries(relative.normals), sampled = keys(pairs.sample(relative.normals));
    encoding.push_back((normals * sampled).sum(-1));
    if (channels > 2) {
      encoding.push_back((normals * apart).sum(-1));
      encoding.push_back((sampled * apart).sum(-1));
    }
    if (channels > 4) {
      const auto [m, s] = std::pair(normals.expand_as(apart), sampled.expand_as(apart));
      encoding.push_back((at::linalg_cross(m, s) * apart).sum(-1));
    }
  }
  return at::stack(encoding, -1);
}

// Sums duplicate edges of a batch: they are sorted once and looked up for each item.
class SummedEdges {
 public:
  // Empty for relative encodings other than graphs.
  explicit SummedEdges(const RelativeEncoding& relative) {
    if (relative.kind != RelativeEncodingKind::graph) return;
    nodes_ = relative.rowptr.size(0) - 1;
    const int64_t edges = relative.col.size(0);
    const at::Tensor source = item_of_row_on_device(relative.rowptr, edges, relative.col.device());
    const auto [pair, order] = (source * nodes_ + relative.col).sort(/*stable=*/true, 0, false);
    pair_ = pair;
    // Duplicates are summed into the first of them.
    summed_ =
        deterministic_scatter_sum(relative.edge_attr.index_select(0, order), at::searchsorted(pair, pair), edges + 1);
  }

  // Returns X_R[i, members[j]] of the sparse relative matrix, [n, k, r]: the sum of the edges (i, members[j]), or 0 if
  // there is no edge.
  at::Tensor encoding(const at::Tensor& members, const Span& span) const {
    const at::Tensor rows = at::arange(span.query, span.query + span.queries, pair_.options()).unsqueeze(1);
    const at::Tensor key = rows * nodes_ + members.narrow(0, span.key, span.keys).unsqueeze(0);
    at::Tensor place = at::searchsorted(pair_, key);
    if (pair_.size(0) > 0) {
      const at::Tensor found = pair_.index_select(0, place.clamp_max(pair_.size(0) - 1).flatten()).view_as(key);
      place = at::where(found == key, place, pair_.size(0));
    }
    return summed_.index_select(0, place.flatten()).view({span.queries, span.keys, summed_.size(1)});
  }

 private:
  int64_t nodes_ = 0;
  at::Tensor pair_;    // source * nodes + target of every edge, ascending
  at::Tensor summed_;  // [edges + 1, r], at the first occurrence of each pair; the last row is 0
};

// Returns the encoding of the edges to a node and, with coordinates, of the distance and the angles to it.
at::Tensor node_encoding(const RelativeEncoding& relative, const SummedEdges& summed, const at::Tensor& members,
                         const Span& span) {
  const at::Tensor edges = summed.encoding(members, span);
  if (!relative.coordinates.defined()) return edges;
  const at::Tensor nodes = members.narrow(0, span.key, span.keys);
  const at::Tensor there = relative.coordinates.index_select(0, nodes);
  const at::Tensor here = relative.coordinates.narrow(0, span.query, span.queries);
  std::vector<at::Tensor> encoding = {
      edges, distance_features((here.unsqueeze(1) - there.unsqueeze(0)).square().sum(-1), relative.distance_channels,
                               relative.distance_range)};
  if (const auto& [mean, products] = relative.directions; mean.defined()) {
    encoding.push_back(
        angle_features(here, {mean.narrow(0, span.query, span.queries), products.narrow(0, span.query, span.queries)},
                       there, {mean.index_select(0, nodes), products.index_select(0, nodes)}));
  }
  for (at::Tensor& channels : encoding) channels = channels.to(edges.scalar_type());
  return at::cat(encoding, -1);
}

DenseAttentionBias graph_bias(const RelativeEncoding& relative, const SummedEdges& summed, const Pairs& pairs,
                              const RelativeMaps& weights, const Span& span) {
  const DenseAttentionBias top = transform(node_encoding(relative, summed, pairs.top, span), weights);
  const DenseAttentionBias partner = transform(node_encoding(relative, summed, pairs.partner, span), weights);
  const at::Tensor p = pairs.weight.narrow(0, span.key, span.keys).view({1, span.keys, 1});
  return {p * top.mul + (1 - p) * partner.mul, p * top.add + (1 - p) * partner.add};
}

DenseAttentionBias attention_bias(const RelativeEncoding& relative, const SummedEdges& summed, const Pairs& pairs,
                                  const RelativeMaps& weights, const Span& span) {
  switch (relative.kind) {
    case RelativeEncodingKind::points:
      return transform(point_encoding(relative, pairs, weights.w_mul.size(0), span), weights);
    case RelativeEncodingKind::graph:
      return graph_bias(relative, summed, pairs, weights, span);
    case RelativeEncodingKind::sequence: {
      const at::Tensor s = relative.positions.narrow(0, span.query, span.queries).unsqueeze(1);
      const at::Tensor ss = pairs.sample(relative.positions).narrow(0, span.key, span.keys).unsqueeze(0);
      return transform(s * ss, weights);
    }
    case RelativeEncodingKind::none:
      break;
  }
  return {};
}

std::vector<Span> spans_of(const std::optional<at::Tensor>& q_ptr, int64_t queries,
                           const std::optional<at::Tensor>& k_ptr, int64_t keys, at::Device device) {
  const OffsetPair offsets = packed_offset_pair(q_ptr, queries, "q_ptr", k_ptr, keys, "k_ptr", device);
  if (offsets.items() == 0) return {{0, 0, 0, 0}};  // no rows, as for one empty item
  std::vector<Span> spans;
  spans.reserve(static_cast<size_t>(offsets.items()));
  for (int64_t b = 0; b < offsets.items(); ++b) {
    spans.push_back({offsets.first[b], offsets.first[b + 1] - offsets.first[b], offsets.second[b],
                     offsets.second[b + 1] - offsets.second[b]});
  }
  return spans;
}

at::Tensor pair_scores(ScoreKind kind, const at::Tensor& q, const at::Tensor& k) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  if (kind == ScoreKind::dot) return at::einsum("ihc,jhc->ijh", {q, k}) * scale;
  const at::Tensor a = q.unsqueeze(1);
  const at::Tensor b = k.unsqueeze(0);
  return at::where(a >= b, a, b).sum(-1) * scale;
}

at::Tensor normalized(ProbabilityKind kind, const at::Tensor& score, const at::Tensor& leak, double eps) {
  if (kind == ProbabilityKind::softmax) return score.softmax(1);
  const at::Tensor positive = score.relu();
  const at::Tensor total = positive.sum(1, true) + exact_softplus(leak).sum(0).view({1, 1, -1}) + eps;
  // A row with sum 0 is divided by 1: 0 / 0 would give NaN gradients.
  return positive / at::where(total == 0, at::ones_like(total), total);
}

// Returns P of the queries of `span` over its keys, [queries, keys, h].
at::Tensor span_probabilities(const ComposedAttention& rule, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& leak, const DenseAttentionBias& bias, const Span& span) {
  at::Tensor s = pair_scores(rule.score, q.narrow(0, span.query, span.queries), k.narrow(0, span.key, span.keys));
  if (bias.mul.defined()) s = s * bias.mul + bias.add;
  return normalized(rule.probability, s, leak.narrow(0, span.key, span.keys), rule.eps);
}

}  // namespace

DenseAttentionBias dense_attention_bias(const RelativeEncoding& relative, const Pairs& pairs,
                                        const RelativeMaps& weights, const std::optional<at::Tensor>& q_ptr,
                                        const std::optional<at::Tensor>& k_ptr) {
  const int64_t queries = relative.rowptr.size(0) - 1, keys = pairs.weight.size(0), heads = weights.b_mul.size(0);
  const SummedEdges summed(relative);
  std::vector<at::Tensor> mul, add;
  for (const Span& span : spans_of(q_ptr, queries, k_ptr, keys, pairs.weight.device())) {
    const DenseAttentionBias bias = attention_bias(relative, summed, pairs, weights, span);
    mul.push_back(bias.mul.reshape({span.queries * span.keys, heads}));
    add.push_back(bias.add.reshape({span.queries * span.keys, heads}));
  }
  return {at::cat(mul), at::cat(add)};
}

at::Tensor ComposedAttention::probabilities(const at::Tensor& q, const at::Tensor& k, const at::Tensor& leak,
                                            const RelativeEncoding& relative, const Pairs& pairs,
                                            const RelativeMaps& weights, const AttentionSpan& span) const {
  return span_probabilities(*this, q, k, leak, attention_bias(relative, SummedEdges(relative), pairs, weights, span),
                            span);
}

at::Tensor ComposedAttention::operator()(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                         const at::Tensor& leak, const RelativeEncoding& relative, const Pairs& pairs,
                                         const RelativeMaps& weights, const std::optional<at::Tensor>& q_ptr,
                                         const std::optional<at::Tensor>& k_ptr) const {
  const SummedEdges summed(relative);
  std::vector<at::Tensor> items;
  for (const Span& span : spans_of(q_ptr, q.size(0), k_ptr, k.size(0), q.device())) {
    const DenseAttentionBias bias = attention_bias(relative, summed, pairs, weights, span);
    const at::Tensor p = span_probabilities(*this, q, k, leak, bias, span);
    items.push_back(at::einsum("ijh,jhc->ihc", {p, v.narrow(0, span.key, span.keys)}));
  }
  return at::cat(items, 0);
}

}  // namespace geosft
