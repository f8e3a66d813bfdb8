// SPDX-License-Identifier: Apache-2.0
#include "models/layers/attention.h"

#include <torch/nn/init.h>

#include <cmath>

#include "models/layers/composed_attention.h"
#include "models/layers/forward_trace.h"
#include "models/ops/graph_attention.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/sequence_attention.h"

namespace geosft {
namespace {

// Mean and standard deviation of the channels of X_R, squared distance and normal product, over pairs of points of
// clouds in the unit ball: 0.57, 0.59 and 0.03, 0.67 over 300 training shapes of infomr40.
constexpr double point_mean[] = {0.6, 0.0};
constexpr double point_deviation[] = {0.6, 0.7};
constexpr double relative_spread = 1.8;  // deviation of R_add over pairs that the standardised X_R is scaled to
constexpr double additive_mean = -3.0;   // about as far below zero as the maxout score of equal tokens is above it
constexpr double carrying_gain = 2.4;    // of W_V and W_O

void check_relative(const AttentionOptions& options, const Relative& relative, const at::Tensor& x) {
  TORCH_CHECK(relative.kind == options.relative, "relative must be of the kind this attention was built for");
  TORCH_CHECK(x.dim() == 2 && x.size(1) == options.width, "x must have shape [N, ", options.width, "], got ",
              x.sizes());
  if (options.relative == RelativeKind::points) {
    TORCH_CHECK(relative.normals.defined() == (options.relative_channels == 2), "normals must be given exactly when ",
                "relative_channels is 2, it is ", options.relative_channels);
  }
}

}  // namespace

SamplingAttentionImpl::SamplingAttentionImpl(const AttentionOptions& attention_options)
    : options(attention_options),
      sampler(register_module("sampler", Sampler(options.width, options.sampler))),
      query(register_module("query", torch::nn::Linear(options.width, options.width))),
      key(register_module("key", torch::nn::Linear(options.width, options.width))),
      value(register_module("value", torch::nn::Linear(options.width, options.width))),
      leak(register_module("leak", torch::nn::Linear(options.width, options.heads))),
      output(register_module("output", torch::nn::Linear(options.width, options.width))) {
  TORCH_CHECK(options.heads >= 1 && options.width % options.heads == 0, "heads must divide width ", options.width,
              ", got ", options.heads);
  if (options.relative != RelativeKind::none) {
    TORCH_CHECK(options.relative_channels >= 1, "relative_channels must be at least 1, got ",
                options.relative_channels);
    w_mul = register_parameter("w_mul", at::empty({options.relative_channels, options.heads}));
    b_mul = register_parameter("b_mul", at::empty({options.heads}));
    w_add = register_parameter("w_add", at::empty({options.relative_channels, options.heads}));
    b_add = register_parameter("b_add", at::empty({options.heads}));
  }
  reset_parameters();
}

void SamplingAttentionImpl::reset_parameters() {
  const double deviation = carrying_gain / std::sqrt(static_cast<double>(options.width));
  torch::nn::init::normal_(value->weight, 0.0, deviation);
  torch::nn::init::normal_(output->weight, 0.0, deviation);
  if (options.relative != RelativeKind::none) reset_relative();
}

void SamplingAttentionImpl::reset_relative() {
  torch::NoGradGuard guard;
  const double spread = relative_spread / std::sqrt(static_cast<double>(options.relative_channels));
  torch::nn::init::normal_(w_mul, 0.0, spread);
  torch::nn::init::normal_(w_add, 0.0, spread);
  torch::nn::init::normal_(b_mul);
  torch::nn::init::normal_(b_add, additive_mean);
  if (options.relative != RelativeKind::points) return;
  for (int64_t channel = 0; channel < options.relative_channels; ++channel) {
    for (auto [w, b] : {std::pair{w_mul, b_mul}, std::pair{w_add, b_add}}) {
      w[channel] /= point_deviation[channel];
      b -= w[channel] * point_mean[channel];
    }
  }
}

at::Tensor SamplingAttentionImpl::forward(const at::Tensor& x, const Relative& relative,
                                          const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  check_relative(options, relative, x);
  const Pairs pairs = sampler->forward(x, ptr, context);
  const at::Tensor sampled = pairs.sample(x);
  const int64_t channels = options.width / options.heads;
  // The operators compute in float32 and want one type: that of the tokens, which autocast leaves alone.
  const auto typed = [&](const at::Tensor& rows) { return rows.to(x.scalar_type()); };
  const auto split = [&](const at::Tensor& rows) { return typed(rows).view({-1, options.heads, channels}); };
  const at::Tensor q = split(context.dropout(query->forward(x), options.score_dropout));
  const int64_t samples_before =
      context.rows_before([&](int64_t tokens) { return sample_count(tokens, sampler->options); });
  const at::Tensor k = split(context.dropout(key->forward(sampled), options.score_dropout, samples_before));
  const at::Tensor v = split(value->forward(sampled)), leaks = typed(leak->forward(sampled));
  const std::optional<at::Tensor> k_ptr = ptr.has_value() ? std::optional<at::Tensor>(pairs.ptr) : std::nullopt;
  const RelativeWeights weights{w_mul, b_mul, w_add, b_add};
  const ComposedAttention composed{options.score, options.probability, options.eps};
  if (context.trace() != nullptr) {
    const auto rows = [=](int64_t first, int64_t count) {
      return composed.probabilities(q, k, leaks, relative, pairs, weights, {first, count, 0, k.size(0)});
    };
    context.trace()->layers.push_back(
        {pairs.ptr.size(0) - 1, x.size(0), options.heads, rows, k.numel(), sampler->score(x), pairs});
  }
  const bool fused = options.score == ScoreKind::maxout && options.probability == ProbabilityKind::leaky_relu;
  at::Tensor mixed;
  if (!fused) {
    mixed = composed(q, k, v, leaks, relative, pairs, weights, ptr, k_ptr);
  } else if (options.relative == RelativeKind::points) {
    const bool normals = relative.normals.defined();
    mixed = point_attention(q, k, v, leaks, relative.coordinates, pairs.sample(relative.coordinates),
                            normals ? std::optional<at::Tensor>(relative.normals) : std::nullopt,
                            normals ? std::optional<at::Tensor>(pairs.sample(relative.normals)) : std::nullopt, w_mul,
                            b_mul, w_add, b_add, ptr, k_ptr, options.eps);
  } else if (options.relative == RelativeKind::graph && relative.coordinates.defined()) {
    const RelativeTerms terms = dense_relative_terms(relative, pairs, weights, ptr, k_ptr);
    mixed = maxout_attention(q, k, v, leaks, terms.mul, terms.add, ptr, k_ptr, options.eps);
  } else if (options.relative == RelativeKind::graph) {
    mixed = graph_attention(q, k, v, leaks, relative.rowptr, relative.col, relative.edge_attr, pairs.top, pairs.partner,
                            pairs.weight, w_mul, b_mul, w_add, b_add, ptr, k_ptr, options.eps);
  } else if (options.relative == RelativeKind::sequence) {
    mixed = sequence_attention(q, k, v, leaks, relative.positions, pairs.sample(relative.positions), w_mul, b_mul,
                               w_add, b_add, ptr, k_ptr, options.eps);
  } else {
    mixed = maxout_attention(q, k, v, leaks, std::nullopt, std::nullopt, ptr, k_ptr, options.eps);
  }
  return output->forward(mixed.reshape({x.size(0), options.width}));
}

}  // namespace geosft
