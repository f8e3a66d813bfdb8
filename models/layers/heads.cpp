// SPDX-License-Identifier: Apache-2.0
#include "models/layers/heads.h"

#include <algorithm>
#include <cmath>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"
#include "models/layers/forward_trace.h"
#include "models/layers/linear.h"
#include "models/ops/edge_sum.h"
#include "models/ops/max_pool.h"
#include "models/ops/softmax_pool.h"

namespace geosft {
namespace {

// x may be the output of autocast, which does not convert parameters.
at::Tensor pooled(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  return softmax_pool(x, u.to(x.scalar_type()), ptr);
}

at::Tensor projection_of(int64_t width) {
  return at::randn({width}) / std::sqrt(static_cast<double>(width));
}

void check_head_dropout(double dropout) {
  TORCH_CHECK(dropout >= 0 && dropout < 1, "head_dropout must lie in [0, 1), got ", dropout);
}

int64_t items_before(const SamplingContext& context) {
  return context.rows_before([](int64_t) { return 1; });
}

}  // namespace

MlpImpl::MlpImpl(int64_t inputs, int64_t hidden, int64_t outputs, int64_t layers, double hidden_dropout)
    : linears(register_module("linears", torch::nn::ModuleList())), dropout(hidden_dropout) {
  TORCH_CHECK(layers >= 1, "layers must be at least 1, got ", layers);
  check_head_dropout(hidden_dropout);
  for (int64_t i = 0; i < layers; ++i) {
    linears->push_back(torch::nn::Linear(i == 0 ? inputs : hidden, i + 1 == layers ? outputs : hidden));
  }
}

at::Tensor MlpImpl::forward(at::Tensor x, SamplingContext& context, std::optional<int64_t> before) {
  for (size_t i = 0; i < linears->size(); ++i) {
    if (i > 0) x = at::gelu(x);
    x = linears[i]->as<torch::nn::Linear>()->forward(context.dropout(x, dropout, before));
  }
  return x;
}

at::Tensor mean_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  const at::Tensor sums = sum_pool(x, ptr);
  const at::Tensor counts = given(ptr)
                                ? at::diff(ptr_on_device(ptr, x.device(), "ptr")).clamp_min(1)
                                : at::full({1}, std::max<int64_t>(x.size(0), 1), sums.options().dtype(at::kLong));
  return sums / counts.unsqueeze(1).to(sums.scalar_type());
}

SampleMaxHeadImpl::SampleMaxHeadImpl(int64_t width, int64_t outputs, const SamplerOptions& sampler_options,
                                     double pooled_dropout)
    : sampler(register_module("sampler", Sampler(width, sampler_options))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))),
      dropout(pooled_dropout) {
  check_head_dropout(dropout);
}

at::Tensor SampleMaxHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                      SamplingContext& context) {
  const Pairs pairs = sampler->forward(x, ptr, context);
  if (context.trace() != nullptr) context.trace()->head = {sampler->score(x), pairs};
  return linear->forward(context.dropout(max_pool(pairs.sample(x), pairs.ptr), dropout, items_before(context)));
}

SoftmaxPoolHeadImpl::SoftmaxPoolHeadImpl(int64_t width, int64_t outputs)
    : u(register_parameter("u", projection_of(width))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor SoftmaxPoolHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  return linear->forward(pooled(x, u, ptr));
}

PairHeadImpl::PairHeadImpl(int64_t width, int64_t outputs)
    : u(register_parameter("u", projection_of(width))),
      hidden(register_module("hidden", torch::nn::Linear(4 * width, width))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor PairHeadImpl::forward(const at::Tensor& x, const at::Tensor& ptr) {
  TORCH_CHECK(ptr.size(0) % 2 == 1, "ptr must have items in pairs, got ", ptr.size(0) - 1, " items");
  const at::Tensor pairs = pooled(x, u, ptr).view({-1, 2, x.size(1)});
  const at::Tensor a = pairs.select(1, 0), b = pairs.select(1, 1);
  return linear->forward(at::relu(hidden->forward(at::cat({a, b, a * b, a - b}, 1))));
}

SumHeadImpl::SumHeadImpl(int64_t width, int64_t outputs)
    : linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor SumHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  return sum_pool(linear->forward(x), ptr);
}

PooledHeadImpl::PooledHeadImpl(int64_t width, int64_t outputs, const PooledHeadOptions& head_options)
    : options(head_options) {
  TORCH_CHECK(options.graph_features >= 0, "graph_features must be at least 0, got ", options.graph_features);
  if (options.pooling == Pooling::softmax) u = register_parameter("u", projection_of(width));
  if (options.pooling == Pooling::sample_max) sampler = register_module("sampler", Sampler(width, options.sampler));
  mlp = register_module("mlp", Mlp(width + options.graph_features, width, outputs, options.layers, options.dropout));
}

at::Tensor PooledHeadImpl::pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  switch (options.pooling) {
    case Pooling::softmax:
      return pooled(x, u, ptr);
    case Pooling::sum:
      return sum_pool(x, ptr);
    case Pooling::mean:
      return mean_pool(x, ptr);
    case Pooling::max:
      return max_pool(x, ptr);
    case Pooling::sample_max:
      break;
  }
  const Pairs pairs = sampler->forward(x, ptr, context);
  if (context.trace() != nullptr) context.trace()->head = {sampler->score(x), pairs};
  return max_pool(pairs.sample(x), pairs.ptr);
}

at::Tensor PooledHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context,
                                   const at::Tensor& graph_features) {
  at::Tensor rows = pool(x, ptr, context);
  const int64_t found = graph_features.defined() && graph_features.dim() == 2 ? graph_features.size(1) : 0;
  TORCH_CHECK(found == options.graph_features && (found == 0 || graph_features.size(0) == rows.size(0)),
              "graph_features must be [", rows.size(0), ", ", options.graph_features, "], got ",
              graph_features.defined() ? graph_features.sizes() : at::IntArrayRef());
  if (found > 0) rows = at::cat({rows, graph_features.to(rows.scalar_type())}, 1);
  return mlp->forward(rows, context, items_before(context));
}

TokenHeadImpl::TokenHeadImpl(int64_t width, int64_t outputs)
    : linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor TokenHeadImpl::forward(const at::Tensor& x) {
  return apply_linear(linear, x);
}

}  // namespace geosft
