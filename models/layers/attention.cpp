// SPDX-License-Identifier: Apache-2.0
#include "models/layers/attention.h"

#include <ATen/autocast_mode.h>
#include <torch/nn/init.h>

#include <array>
#include <cmath>

#include "models/layers/composed_attention.h"
#include "models/layers/forward_trace.h"
#include "models/layers/linear.h"
#include "models/ops/graph_attention.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/sequence_attention.h"

namespace geosft {
namespace {

// Mean and standard deviation of the channels of X_R over pairs of points of clouds in the unit ball. Over 300 training
// shapes of infomr40 they are 0.57, 0.59 (squared distance); 0.03, 0.67 (product of normals); -0.08, 0.40 and 0.08,
// 0.40 (projections on the normals of query and key); 0.00, 0.35 (triple product).
constexpr double point_mean[] = {0.6, 0.0, -0.1, 0.1, 0.0};
constexpr double point_deviation[] = {0.6, 0.7, 0.4, 0.4, 0.35};
constexpr double relative_spread = 1.8;  // initial standard deviation of R_add over pairs
// Approximately minus the maxout score of equal tokens, and of tokens that differ: the nodes of a graph, whose
// attention bias is the same for all pairs without an edge, and the steps of a sequence.
constexpr double additive_mean_of_points = -3.0, additive_mean_of_distinct = -1.0;
constexpr double carrying_gain = 2.4;  // initial gain of W_V and W_O

const char* kind_name(RelativeEncodingKind kind) {
  constexpr std::array<const char*, 4> names = {"none", "points", "graph", "sequence"};  // by RelativeEncodingKind
  return names.at(static_cast<size_t>(kind));
}

void check_inputs(const AttentionOptions& options, const RelativeEncoding& relative, const at::Tensor& x,
                  const std::optional<at::Tensor>& ptr, const at::Tensor& weight) {
  TORCH_CHECK(!ptr.has_value() || ptr->defined(), "ptr must be a tensor, or std::nullopt, got an undefined tensor");
  TORCH_CHECK(relative.kind == options.relative, "relative must be of the kind that this attention was built for, ",
              kind_name(options.relative), ", got ", kind_name(relative.kind));
  TORCH_CHECK(x.dim() == 2 && x.size(1) == options.width, "x must have shape [N, ", options.width, "], got ",
              x.sizes());
  TORCH_CHECK(x.scalar_type() == weight.scalar_type() || at::autocast::is_autocast_enabled(x.device().type()),
              "x must have the dtype of the weights, ", weight.scalar_type(), ", got ", x.scalar_type());
  const auto check_rows = [&](const at::Tensor& rows, const char* name) {
    if (!rows.defined()) return;
    TORCH_CHECK(rows.dim() == 2 && rows.size(0) == x.size(0), name,
                " of the relative encoding must have a row for each ", "of the ", x.size(0), " rows of x, got ",
                rows.sizes());
    TORCH_CHECK(rows.scalar_type() == x.scalar_type(), name, " of the relative encoding must have the dtype of x, ",
                x.scalar_type(), ", got ", rows.scalar_type());
  };
  if (options.relative == RelativeEncodingKind::points) {
    TORCH_CHECK(relative.coordinates.defined(),
                "coordinates of the relative encoding must be a tensor [N, 3], got none");
    check_rows(relative.coordinates, "coordinates");
    TORCH_CHECK(relative.coordinates.size(1) == 3, "coordinates of the relative encoding must have shape [N, 3], got ",
                relative.coordinates.sizes());
    check_rows(relative.normals, "normals");
    TORCH_CHECK(relative.normals.defined() == (options.relative_channels > 1), "normals must be given exactly when ",
                "relative_channels is above 1, it is ", options.relative_channels);
  }
  const auto check_count = [](const at::Tensor& rows, const char* name, int64_t count, const char* shape) {
    TORCH_CHECK(rows.defined() && rows.dim() >= 1 && rows.size(0) == count, name,
                " of the relative encoding must have shape ", shape, " with ", count, " rows, got ",
                rows.defined() ? rows.sizes() : at::IntArrayRef());
  };
  if (options.relative == RelativeEncodingKind::sequence) {
    check_count(relative.positions, "positions", x.size(0), "[N, ds]");
  }
  if (options.relative == RelativeEncodingKind::graph) {
    check_count(relative.rowptr, "rowptr", x.size(0) + 1, "[N + 1]");
    TORCH_CHECK(relative.col.defined(), "col of the relative encoding must be a tensor [E], got none");
    check_count(relative.edge_attr, "edge_attr", relative.col.size(0), "[E, r]");
    if (relative.coordinates.defined()) check_count(relative.coordinates, "coordinates", x.size(0), "[N, 3]");
  }
}

AttentionOptions checked(const AttentionOptions& options) {
  TORCH_CHECK(options.width >= 1, "width must be at least 1, got ", options.width);
  TORCH_CHECK(options.heads >= 1 && options.width % options.heads == 0, "heads must divide width ", options.width,
              ", got ", options.heads);
  TORCH_CHECK(options.eps >= 0, "eps must not be negative, got ", options.eps);
  TORCH_CHECK(options.score_dropout >= 0 && options.score_dropout < 1, "score_dropout must lie in [0, 1), got ",
              options.score_dropout);
  return options;
}

RelativeMaps weights_of(const SamplingAttentionImpl& attention) {
  return {attention.w_mul, attention.b_mul, attention.w_add, attention.b_add};
}

ComposedAttention rule_of(const AttentionOptions& options) {
  return {options.score, options.probability, options.eps};
}

}  // namespace

SamplingAttentionImpl::SamplingAttentionImpl(const AttentionOptions& attention_options)
    : options(checked(attention_options)),
      sampler(register_module("sampler", Sampler(options.width, options.sampler))),
      query(register_module("query", torch::nn::Linear(options.width, options.width))),
      key(register_module("key", torch::nn::Linear(options.width, options.width))),
      value(register_module("value", torch::nn::Linear(options.width, options.width))),
      leak(register_module("leak", torch::nn::Linear(options.width, options.heads))),
      output(register_module("output", torch::nn::Linear(options.width, options.width))) {
  if (options.relative != RelativeEncodingKind::none) {
    TORCH_CHECK(options.relative_channels >= 1, "relative_channels must be at least 1, got ",
                options.relative_channels);
    const int64_t r = options.relative_channels;
    TORCH_CHECK(options.relative != RelativeEncodingKind::points || r == 1 || r == 2 || r == 4 || r == 5,
                "relative_channels of points must be 1, 2, 4 or 5, got ", r);
    w_mul = register_parameter("w_mul", at::empty({options.relative_channels, options.heads}));
    b_mul = register_parameter("b_mul", at::empty({options.heads}));
    w_add = register_parameter("w_add", at::empty({options.relative_channels, options.heads}));
    b_add = register_parameter("b_add", at::empty({options.heads}));
  }
  reset_parameters();
}

void SamplingAttentionImpl::reset_parameters() {
  if (options.initialization == Initialization::paper) {
    value->reset_parameters();
    output->reset_parameters();
    if (options.relative == RelativeEncodingKind::none) return;
    const double bound = 1 / std::sqrt(static_cast<double>(options.relative_channels));
    for (const at::Tensor& map : {w_mul, b_mul, w_add, b_add}) torch::nn::init::uniform_(map, -bound, bound);
    return;
  }
  const double deviation = carrying_gain / std::sqrt(static_cast<double>(options.width));
  torch::nn::init::normal_(value->weight, 0.0, deviation);
  torch::nn::init::normal_(output->weight, 0.0, deviation);
  if (options.relative != RelativeEncodingKind::none) reset_relative();
}

void SamplingAttentionImpl::reset_relative() {
  torch::NoGradGuard guard;
  const double spread = relative_spread / std::sqrt(static_cast<double>(options.relative_channels));
  torch::nn::init::normal_(w_mul, 0.0, spread);
  torch::nn::init::normal_(w_add, 0.0, spread);
  torch::nn::init::normal_(b_mul);
  const bool points = options.relative == RelativeEncodingKind::points;
  torch::nn::init::normal_(b_add, points ? additive_mean_of_points : additive_mean_of_distinct);
  if (!points) return;
  for (int64_t channel = 0; channel < options.relative_channels; ++channel) {
    for (auto [w, b] : {std::pair{w_mul, b_mul}, std::pair{w_add, b_add}}) {
      w[channel] /= point_deviation[channel];
      b -= w[channel] * point_mean[channel];
    }
  }
}

SamplingAttentionImpl::Projections SamplingAttentionImpl::project(const at::Tensor& x, const Pairs& pairs,
                                                                  const std::optional<at::Tensor>& ptr,
                                                                  SamplingContext& context) {
  const at::Tensor sampled = pairs.sample(x);
  const int64_t channels = options.width / options.heads;
  // The operators need a single type: that of the tokens, which autocast does not change.
  const auto typed = [&](const at::Tensor& rows) { return rows.to(x.scalar_type()); };
  const auto split = [&](const at::Tensor& rows) { return typed(rows).view({-1, options.heads, channels}); };
  Projections p;
  p.q = split(context.dropout(apply_linear(query, x), options.score_dropout));
  const int64_t samples_before =
      context.rows_before([&](int64_t tokens) { return sample_count(tokens, sampler->options); });
  p.k = split(context.dropout(apply_linear(key, sampled), options.score_dropout, samples_before));
  p.v = split(apply_linear(value, sampled));
  p.leak = typed(apply_linear(leak, sampled));
  p.q_ptr = ptr;
  if (ptr.has_value()) p.k_ptr = pairs.ptr;
  return p;
}

at::Tensor SamplingAttentionImpl::mix_points(const Projections& p, const RelativeEncoding& relative,
                                             const Pairs& pairs) const {
  std::optional<at::Tensor> normals, sampled_normals;
  if (relative.normals.defined()) {
    normals = relative.normals;
    sampled_normals = pairs.sample(relative.normals);
  }
  return point_attention(p.q, p.k, p.v, p.leak, relative.coordinates, pairs.sample(relative.coordinates), normals,
                         sampled_normals, w_mul, b_mul, w_add, b_add, p.q_ptr, p.k_ptr, options.eps);
}

at::Tensor SamplingAttentionImpl::mix_graph(const Projections& p, const RelativeEncoding& relative,
                                            const Pairs& pairs) const {
  if (relative.coordinates.defined()) {
    const DenseAttentionBias bias = dense_attention_bias(relative, pairs, weights_of(*this), p.q_ptr, p.k_ptr);
    return maxout_attention(p.q, p.k, p.v, p.leak, bias.mul, bias.add, p.q_ptr, p.k_ptr, options.eps);
  }
  return graph_attention(p.q, p.k, p.v, p.leak, relative.rowptr, relative.col, relative.edge_attr, pairs.top,
                         pairs.partner, pairs.weight, w_mul, b_mul, w_add, b_add, p.q_ptr, p.k_ptr, options.eps);
}

at::Tensor SamplingAttentionImpl::mix(const Projections& p, const RelativeEncoding& relative,
                                      const Pairs& pairs) const {
  const bool fused = options.score == ScoreKind::maxout && options.probability == ProbabilityKind::leaky_relu;
  if (!fused) {
    return rule_of(options)(p.q, p.k, p.v, p.leak, relative, pairs, weights_of(*this), p.q_ptr, p.k_ptr);
  }
  if (options.relative == RelativeEncodingKind::points) return mix_points(p, relative, pairs);
  if (options.relative == RelativeEncodingKind::graph) return mix_graph(p, relative, pairs);
  if (options.relative == RelativeEncodingKind::sequence) {
    return sequence_attention(p.q, p.k, p.v, p.leak, relative.positions, pairs.sample(relative.positions), w_mul, b_mul,
                              w_add, b_add, p.q_ptr, p.k_ptr, options.eps);
  }
  return maxout_attention(p.q, p.k, p.v, p.leak, std::nullopt, std::nullopt, p.q_ptr, p.k_ptr, options.eps);
}

at::Tensor SamplingAttentionImpl::forward(const at::Tensor& x, const RelativeEncoding& relative,
                                          const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  check_inputs(options, relative, x, ptr, query->weight);
  const Pairs pairs = sampler->forward(x, ptr, context);
  const Projections p = project(x, pairs, ptr, context);
  if (context.trace() != nullptr) {
    const auto rows = [=, weights = weights_of(*this), rule = rule_of(options)](int64_t first, int64_t count) {
      return rule.probabilities(p.q, p.k, p.leak, relative, pairs, weights, {first, count, 0, p.k.size(0)});
    };
    context.trace()->layers.push_back(
        {pairs.ptr.size(0) - 1, x.size(0), options.heads, rows, p.k.numel(), sampler->score(x), pairs});
  }
  return apply_linear(output, mix(p, relative, pairs).reshape({x.size(0), options.width}));
}

}  // namespace geosft
