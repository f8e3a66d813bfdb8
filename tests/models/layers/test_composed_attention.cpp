// SPDX-License-Identifier: Apache-2.0
#include "models/layers/composed_attention.h"

#include <torch/csrc/autograd/autograd.h>

#include <ATen/record_function.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "models/ops/graph_attention.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/sequence_attention.h"
#include "tests/support.h"

namespace geosft::test::test_composed_attention {
namespace {

constexpr int64_t kHeads = 2, kWidth = 3;

at::Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  return at::randn(shape, generator(seed), at::kDouble).requires_grad_(true);
}

// Random leaves of one packed batch with an item of one token and an empty one.
struct Problem {
  at::Tensor ptr = at::tensor({0, 9, 9, 10, 16}, at::kLong);
  at::Tensor q = normal({16, kHeads, kWidth}, 1);
  at::Tensor score = normal({16}, 2);
  at::Tensor coordinates = normal({16, 3}, 3), normals = normal({16, 3}, 4), positions = normal({16, 5}, 5);
  at::Tensor rowptr = at::tensor({0, 3, 5, 6, 6, 8, 9, 9, 10, 10, 11, 13, 13, 14, 15, 15, 17}, at::kLong);
  at::Tensor col = at::tensor({1, 1, 4, 0, 1, 7, 5, 4, 3, 8, 9, 12, 11, 10, 15, 10, 11}, at::kLong);
  at::Tensor edges = normal({17, 2}, 6);
  Pairs pairs;
  at::Tensor k, v, leak;

  Problem() {
    SamplingContext context = SamplingContext::seeded();
    pairs = sample_tokens(score, ptr, {.num_samples = 3}, context);
    const int64_t keys = pairs.weight.size(0);
    k = normal({keys, kHeads, kWidth}, 7);
    v = normal({keys, kHeads, 4}, 8);
    leak = normal({keys, kHeads}, 9);
  }
};

RelativeMaps random_weights(int64_t channels) {
  return {normal({channels, kHeads}, 10), normal({kHeads}, 11), normal({channels, kHeads}, 12), normal({kHeads}, 13)};
}

// Values and gradients of both; absent gradients count as zero.
void require_same(const at::Tensor& actual, const at::Tensor& expected, const std::vector<at::Tensor>& leaves,
                  const std::string& what) {
  require_close(actual, expected, 1e-12, what);
  const at::Tensor grad_output = at::randn(expected.sizes(), generator(14), at::kDouble);
  const auto gradients = [&](const at::Tensor& out) {
    return torch::autograd::grad({out}, leaves, {grad_output}, /*retain_graph=*/true, false, /*allow_unused=*/true);
  };
  const auto a = gradients(actual), b = gradients(expected);
  for (size_t i = 0; i < leaves.size(); ++i) {
    INFO(what << ", leaf " << i);
    REQUIRE((a[i].defined() && b[i].defined()));
    require_close(a[i], b[i], 1e-11, what + " gradient");
  }
}

const ComposedAttention kPaper{ScoreKind::maxout, ProbabilityKind::leaky_relu, 1e-6};

}  // namespace

TEST_CASE("the composed attention equals the fused one", "[composed_attention]") {
  // Measured over 1,000 seeds, at most: 1.0e-14 where 1e-12 is allowed, and 4.2e-13 where 1e-11 is allowed.
  const Problem p;
  const std::vector<at::Tensor> common{p.q, p.k, p.v, p.leak};
  require_same(kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::none(), p.pairs, {}, p.ptr, p.pairs.ptr),
               maxout_attention(p.q, p.k, p.v, p.leak, {}, {}, p.ptr, p.pairs.ptr), common, "plain");
  const auto with = [&](std::vector<at::Tensor> more, const RelativeMaps& w) {
    more.insert(more.end(), common.begin(), common.end());
    more.insert(more.end(), {w.w_mul, w.b_mul, w.w_add, w.b_add, p.score});
    return more;
  };
  const RelativeMaps one = random_weights(1), two = random_weights(2), five = random_weights(5);
  require_same(kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::points(p.coordinates), p.pairs, one, p.ptr, p.pairs.ptr),
               point_attention(p.q, p.k, p.v, p.leak, p.coordinates, p.pairs.sample(p.coordinates), {}, {}, one.w_mul,
                               one.b_mul, one.w_add, one.b_add, p.ptr, p.pairs.ptr),
               with({p.coordinates}, one), "points");
  require_same(
      kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::points(p.coordinates, p.normals), p.pairs, two, p.ptr,
             p.pairs.ptr),
      point_attention(p.q, p.k, p.v, p.leak, p.coordinates, p.pairs.sample(p.coordinates), p.normals,
                      p.pairs.sample(p.normals), two.w_mul, two.b_mul, two.w_add, two.b_add, p.ptr, p.pairs.ptr),
      with({p.coordinates, p.normals}, two), "points with normals");
  for (const int64_t channels : {4, 5}) {
    const RelativeMaps w = random_weights(channels);
    require_same(kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::points(p.coordinates, p.normals), p.pairs, w, p.ptr,
                        p.pairs.ptr),
                 point_attention(p.q, p.k, p.v, p.leak, p.coordinates, p.pairs.sample(p.coordinates), p.normals,
                                 p.pairs.sample(p.normals), w.w_mul, w.b_mul, w.w_add, w.b_add, p.ptr, p.pairs.ptr),
                 with({p.coordinates, p.normals}, w), "points with angles");
  }
  require_same(kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::graph(p.rowptr, p.col, p.edges), p.pairs, two, p.ptr,
                      p.pairs.ptr),
               graph_attention(p.q, p.k, p.v, p.leak, p.rowptr, p.col, p.edges, p.pairs.top, p.pairs.partner,
                               p.pairs.weight, two.w_mul, two.b_mul, two.w_add, two.b_add, p.ptr, p.pairs.ptr),
               with({p.edges}, two), "graph");
  require_same(
      kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::sequence(p.positions), p.pairs, five, p.ptr, p.pairs.ptr),
      sequence_attention(p.q, p.k, p.v, p.leak, p.positions, p.pairs.sample(p.positions), five.w_mul, five.b_mul,
                         five.w_add, five.b_add, p.ptr, p.pairs.ptr),
      with({p.positions}, five), "sequence");
}

TEST_CASE("the composed attention of a graph without edges equals the fused one", "[composed_attention]") {
  // Measured over 1,000 seeds, at most: 3.1e-13 where 1e-11 is allowed.
  const Problem p;
  const RelativeMaps w = random_weights(2);
  const at::Tensor rowptr = at::zeros({17}, at::kLong), col = at::empty({0}, at::kLong);
  const at::Tensor edges = at::empty({0, 2}, at::kDouble);
  require_same(
      kPaper(p.q, p.k, p.v, p.leak, RelativeEncoding::graph(rowptr, col, edges), p.pairs, w, p.ptr, p.pairs.ptr),
      graph_attention(p.q, p.k, p.v, p.leak, rowptr, col, edges, p.pairs.top, p.pairs.partner, p.pairs.weight, w.w_mul,
                      w.b_mul, w.w_add, w.b_add, p.ptr, p.pairs.ptr),
      {p.q, p.k, p.v, p.leak, w.b_mul, w.b_add}, "no edges");
}

TEST_CASE("the edges of a batch are sorted once, whatever the number of items", "[composed_attention]") {
  const Problem p;
  const RelativeMaps w = random_weights(2);
  const RelativeEncoding graph = RelativeEncoding::graph(p.rowptr, p.col, p.edges);
  static int sorted;
  sorted = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        sorted += std::string(call.name()) == "aten::sort";
        return nullptr;
      }));
  kPaper(p.q, p.k, p.v, p.leak, graph, p.pairs, w, p.ptr, p.pairs.ptr);
  CHECK(sorted == 1);
  dense_attention_bias(graph, p.pairs, w, p.ptr, p.pairs.ptr);
  CHECK(sorted == 2);
  at::removeCallback(handle);
}

TEST_CASE("edges, distances and angles are channels of one encoding", "[composed_attention]") {
  const Problem p;
  const RelativeMaps all = random_weights(2 + 3 + angle_channels);
  const auto part = [&](int64_t from, int64_t channels) {
    return RelativeMaps{all.w_mul.narrow(0, from, channels), all.b_mul, all.w_add.narrow(0, from, channels), all.b_add};
  };
  const RelativeEncoding graph = RelativeEncoding::graph(p.rowptr, p.col, p.edges);
  const RelativeEncoding molecules = RelativeEncoding::molecules(graph, p.coordinates, 3, 2.0, true);
  const EdgeDirections directions = edge_directions(p.coordinates, p.rowptr, p.col);
  const AttentionSpan span{10, 6, p.pairs.ptr[3].item<int64_t>(),
                           p.pairs.ptr[4].item<int64_t>() - p.pairs.ptr[3].item<int64_t>()};
  const auto bias_to = [&](const at::Tensor& members) {
    at::Tensor encoding = at::zeros({span.queries, span.keys, 2}, at::kDouble);
    for (int64_t i = 0; i < span.queries; ++i) {
      for (int64_t e = p.rowptr[span.query + i].item<int64_t>(); e < p.rowptr[span.query + i + 1].item<int64_t>();
           ++e) {
        for (int64_t j = 0; j < span.keys; ++j) {
          const bool joined = p.col[e].item<int64_t>() == members[span.key + j].item<int64_t>();
          if (joined) encoding[i][j] += p.edges[e].detach();
        }
      }
    }
    const at::Tensor nodes = members.narrow(0, span.key, span.keys), there = p.coordinates.index_select(0, nodes);
    const at::Tensor here = p.coordinates.narrow(0, span.query, span.queries);
    const at::Tensor squared = (here.unsqueeze(1) - there.unsqueeze(0)).square().sum(-1);
    const at::Tensor angles = angle_features(
        here,
        {directions.mean.narrow(0, span.query, span.queries), directions.products.narrow(0, span.query, span.queries)},
        there, {directions.mean.index_select(0, nodes), directions.products.index_select(0, nodes)});
    encoding = at::cat({encoding, distance_features(squared, 3, 2.0), angles}, -1);
    return std::pair(at::softplus(encoding.matmul(all.w_mul) + all.b_mul), encoding.matmul(all.w_add) + all.b_add);
  };
  const auto [top_mul, top_add] = bias_to(p.pairs.top);
  const auto [partner_mul, partner_add] = bias_to(p.pairs.partner);
  const at::Tensor share = p.pairs.weight.narrow(0, span.key, span.keys).view({1, -1, 1});
  const DenseAttentionBias found = dense_attention_bias(molecules, p.pairs, all, p.ptr, p.pairs.ptr);
  const auto last = [&](const at::Tensor& rows) {
    const int64_t count = span.queries * span.keys;
    return rows.narrow(0, rows.size(0) - count, count).view({span.queries, span.keys, kHeads});
  };
  require_close(last(found.mul), share * top_mul + (1 - share) * partner_mul, 1e-8, "R_mul");
  require_close(last(found.add), share * top_add + (1 - share) * partner_add, 1e-12, "R_add");
  // Equals the encoding without angles where their weights are 0.
  const DenseAttentionBias shorter = dense_attention_bias(RelativeEncoding::molecules(graph, p.coordinates, 3, 2.0),
                                                          p.pairs, part(0, 5), p.ptr, p.pairs.ptr);
  RelativeMaps without = all;
  const at::Tensor mask = at::cat({at::ones({5, 1}, at::kDouble), at::zeros({angle_channels, 1}, at::kDouble)});
  without.w_mul = all.w_mul * mask;
  without.w_add = all.w_add * mask;
  const DenseAttentionBias blind = dense_attention_bias(molecules, p.pairs, without, p.ptr, p.pairs.ptr);
  require_close(blind.mul, shorter.mul, 1e-12, "R_mul without angles");
  require_close(blind.add, shorter.add, 1e-12, "R_add without angles");
}

TEST_CASE("a graph without nodes has no rows", "[composed_attention]") {
  const Problem p;
  const at::Tensor none = at::zeros({0}, at::kLong);
  const RelativeEncoding graph = RelativeEncoding::graph(at::zeros({1}, at::kLong), none, p.edges.slice(0, 0, 0));
  const Pairs pairs{none, none, p.pairs.weight.slice(0, 0, 0), {}};
  const auto empty = [](const at::Tensor& x) { return x.slice(0, 0, 0); };
  const at::Tensor out =
      kPaper(empty(p.q), empty(p.k), empty(p.v), empty(p.leak), graph, pairs, random_weights(2), {}, {});
  CHECK(out.sizes() == empty(p.v).sizes());
}

TEST_CASE("a row that sums to exactly 0 is zero and so are its gradients", "[composed_attention]") {
  const Problem p;
  const at::Tensor leak = at::full_like(p.leak, -std::numeric_limits<double>::infinity());
  const at::Tensor q = (-p.q.abs() - 1).detach().requires_grad_(true),
                   k = (-p.k.abs() - 1).detach().requires_grad_(true);
  ComposedAttention attention = kPaper;
  attention.eps = 0;
  const at::Tensor out = attention(q, k, p.v, leak, RelativeEncoding::none(), p.pairs, {}, p.ptr, p.pairs.ptr);
  require_equal(out, at::zeros_like(out), "out");
  for (const at::Tensor& gradient : torch::autograd::grad({out.sum()}, {q, k, p.v})) {
    require_equal(gradient, at::zeros_like(gradient), "gradient");
  }
}

TEST_CASE("every score can be combined with every probability", "[composed_attention]") {
  // Measured over 1,000 seeds, at most: 9.0e-16 where 1e-13 is allowed.
  const Problem p;
  const int64_t keys = p.k.size(0);
  for (const auto score : {ScoreKind::maxout, ScoreKind::dot}) {
    for (const auto probability : {ProbabilityKind::leaky_relu, ProbabilityKind::softmax}) {
      const at::Tensor out = ComposedAttention{score, probability, 1e-6}(
          p.q, p.k, p.v, p.leak, RelativeEncoding::none(), p.pairs, {}, std::nullopt, std::nullopt);
      at::Tensor expected = at::zeros({16, kHeads, 4}, at::kDouble);
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t h = 0; h < kHeads; ++h) {
          double total = probability == ProbabilityKind::softmax ? 0 : 1e-6;
          at::Tensor sum = at::zeros({4}, at::kDouble);
          for (int64_t j = 0; j < keys; ++j) {
            const at::Tensor a = p.q[i][h], b = p.k[j][h];
            const double s =
                (score == ScoreKind::dot ? (a * b) : at::maximum(a, b)).sum().item<double>() / std::sqrt(3.0);
            const bool softmax = probability == ProbabilityKind::softmax;
            const double mass = softmax ? std::exp(s) : std::max(s, 0.0);
            total += mass + (softmax ? 0 : std::log1p(std::exp(p.leak[j][h].item<double>())));
            sum += mass * p.v[j][h].detach();
          }
          expected[i][h] = sum / total;
        }
      }
      require_close(out, expected, 1e-13, "attention");
    }
  }
}

}  // namespace geosft::test::test_composed_attention
