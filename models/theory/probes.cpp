// SPDX-License-Identifier: Apache-2.0
#include "models/theory/probes.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <utility>

#include "geometry/philox.h"
#include "models/layers/composed_attention.h"
#include "models/ops/maxout_attention.h"

namespace geosft {
namespace {

constexpr double closed_leak = -std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-12;  // tolerance of comparisons

at::Generator probe_generator(uint64_t seed, uint64_t use) {
  return at::make_generator<at::CPUGeneratorImpl>(philox(seed, use, 0).first());
}

at::Tensor standard_normal(at::IntArrayRef shape, at::Generator& generator) {
  return at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble));
}

// Returns the query [n, 1, c] and the keys [n, k, c] of each row of weights.
std::pair<at::Tensor, at::Tensor> query_and_keys(const at::Tensor& tokens, const at::Tensor& weights) {
  const at::Tensor w = weights.view({weights.size(0), 2, tokens.size(1), -1});  // [n, 2, d, c]
  return {at::matmul(tokens.slice(0, 0, 1), w.select(1, 0)), at::matmul(tokens.slice(0, 1), w.select(1, 1))};
}

at::Tensor unit_values(int64_t keys) {
  return at::eye(keys, at::kDouble).view({keys, 1, keys});
}

}  // namespace

at::Tensor leaky_relu_probability(const at::Tensor& scores) {
  // Zero queries and keys have the maxout score 0, so that the scores are R_add.
  const int64_t n = scores.size(0), keys = scores.size(1);
  const at::Tensor q = at::zeros({n, 1, 1}, at::kDouble), k = at::zeros({keys, 1, 1}, at::kDouble);
  const at::Tensor leak = at::linspace(-1, 1, keys, at::kDouble).view({keys, 1});
  return maxout_attention(q, k, unit_values(keys), leak, std::nullopt, scores.reshape({n * keys, 1})).view({n, keys});
}

at::Tensor softmax_probability(const at::Tensor& scores) {
  // Dot products with sqrt(k) times the unit vectors.
  const int64_t n = scores.size(0), keys = scores.size(1);
  const ComposedAttention attention{ScoreKind::dot, ProbabilityKind::softmax, 0.0};
  const at::Tensor k = unit_values(keys) * std::sqrt(static_cast<double>(keys));
  const at::Tensor leak = at::zeros({keys, 1}, at::kDouble);
  return attention(scores.view({n, 1, keys}), k, unit_values(keys), leak, RelativeEncoding::none(), {}, {}, {}, {})
      .view({n, keys});
}

std::vector<Contradiction> contradictions(const ProbabilityMap& probability, const at::Tensor& x1,
                                          const at::Tensor& x2) {
  std::vector<Contradiction> found;
  const int64_t components = probability(x1).size(1);
  for (int64_t component = 0; component < components; ++component) {
    const at::Tensor leaf = x1.clone().requires_grad_(true);
    const at::Tensor before = probability(leaf).select(1, component);
    const at::Tensor gradient = torch::autograd::grad({before.sum()}, {leaf})[0];
    const at::Tensor slope = (gradient * (x2 - x1)).sum(1), after = probability(x2).select(1, component);
    const at::Tensor against = at::logical_and(slope >= rounding, after < before.detach() - rounding);
    const at::Tensor rows = against.nonzero().squeeze(1);
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const auto row = rows[i].item<int64_t>();
      found.push_back(
          {component, row, slope[row].item<double>(), before[row].item<double>(), after[row].item<double>()});
    }
  }
  return found;
}

at::Tensor maxout_scores_of_weights(const at::Tensor& tokens, const at::Tensor& weights) {
  const auto [q, k] = query_and_keys(tokens, weights);
  return at::maximum(q, k).sum(2);
}

at::Tensor dot_scores_of_weights(const at::Tensor& tokens, const at::Tensor& weights) {
  const auto [q, k] = query_and_keys(tokens, weights);
  return (q * k).sum(2) / std::sqrt(static_cast<double>(q.size(2)));
}

at::Tensor in_one_region(const at::Tensor& tokens, const at::Tensor& weights1, const at::Tensor& weights2) {
  const auto region = [&](const at::Tensor& weights) {
    const auto [q, k] = query_and_keys(tokens, weights);
    return at::cat({(q > k).flatten(1), at::maximum(q, k).sum(2) > 0}, 1);
  };
  return (region(weights1) == region(weights2)).all(1);
}

GradientNorms gradient_norms(int64_t n, int64_t width, uint64_t seed, int64_t num_samples) {
  constexpr int64_t probes = 3;
  const double shared = std::sqrt(0.5), scale = 1.0 / static_cast<double>(num_samples * probes);
  GradientNorms norms;
  for (int64_t sample = 0; sample < num_samples; ++sample) {
    at::Generator generator = probe_generator(seed, static_cast<uint64_t>(sample));
    const at::Tensor x =
        shared * standard_normal({1, width}, generator) + shared * standard_normal({n, width}, generator);
    const auto weight = [&] {
      return (standard_normal({width, width}, generator) / std::sqrt(static_cast<double>(width))).requires_grad_(true);
    };
    const at::Tensor query = weight(), key = weight(), value = weight();
    const auto head = [&](const at::Tensor& w) { return at::matmul(x, w).view({n, 1, width}); };
    const at::Tensor closed = at::full({n, 1}, closed_leak, at::kDouble);
    const at::Tensor out = maxout_attention(head(query), head(key), head(value), closed);
    for (int64_t probe = 0; probe < probes; ++probe) {
      const at::Tensor signs = standard_normal(out.sizes(), generator).sign();
      const auto gradients = torch::autograd::grad({out}, {query, value}, {signs}, /*retain_graph=*/true);
      norms.query += scale * gradients[0].square().sum().item<double>();
      norms.value += scale * gradients[1].square().sum().item<double>();
    }
  }
  return norms;
}

int64_t numerical_rank(const at::Tensor& tokens) {
  const at::Tensor values = at::linalg_svdvals(tokens);
  const double epsilon = tokens.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                             : std::numeric_limits<float>::epsilon();
  const double side = static_cast<double>(std::max(tokens.size(0), tokens.size(1)));
  return (values > side * epsilon * values[0]).sum().item<int64_t>();
}

double mean_cosine(const at::Tensor& tokens) {
  const auto n = static_cast<double>(tokens.size(0));
  TORCH_CHECK(n > 1, "tokens: expected two or more, got ", tokens.size(0));
  const at::Tensor unit = tokens.to(at::kDouble) / tokens.to(at::kDouble).norm(2, -1, true).clamp_min(1e-30);
  // The squared sum contains each pair twice, and each token with itself.
  return ((unit.sum(0).square().sum() - unit.square().sum()) / (n * (n - 1))).item<double>();
}

std::vector<DepthRank> rank_injection(const RankInjection& options) {
  at::NoGradGuard guard;
  at::Generator generator = probe_generator(options.seed, 0);
  const int64_t n = options.tokens, d = options.width;
  const at::Tensor relative = standard_normal({n * n, 1}, generator);
  at::Tensor x = standard_normal({1, d}, generator).expand({n, d}).contiguous();
  std::vector<DepthRank> ranks = {{0, numerical_rank(x)}};
  for (int64_t layer = 1; layer <= options.layers; ++layer) {
    const auto projected = [&](int64_t columns) {
      return x.matmul(standard_normal({d, columns}, generator)) / std::sqrt(static_cast<double>(d));
    };
    const at::Tensor q = projected(d), k = projected(d), v = projected(d), open = projected(1);
    const at::Tensor leak = options.leak ? open : at::full({n, 1}, closed_leak, at::kDouble);
    const at::Tensor w = standard_normal({4}, generator);
    const at::Tensor mul = at::softplus(relative * w[0] + w[1]), add = relative * w[2] + w[3];
    const auto one_head = [&](const at::Tensor& rows) { return rows.view({n, 1, d}); };
    const at::Tensor mixed = maxout_attention(one_head(q), one_head(k), one_head(v), leak, mul, add, std::nullopt,
                                              std::nullopt, options.leak ? 1e-6 : 0.0);
    const at::Tensor out = standard_normal({d, d}, generator) / std::sqrt(static_cast<double>(d));
    x = at::layer_norm(x + mixed.view({n, d}).matmul(out), {d});
    if (options.feed_forward) {
      const at::Tensor expand = standard_normal({d, 4 * d}, generator) / std::sqrt(static_cast<double>(d)),
                       contract = standard_normal({4 * d, d}, generator) / std::sqrt(static_cast<double>(4 * d));
      x = at::layer_norm(x + at::gelu(x.matmul(expand)).matmul(contract), {d});
    }
    if (layer % options.every == 0 || layer == options.layers) ranks.push_back({layer, numerical_rank(x)});
  }
  return ranks;
}

}  // namespace geosft
