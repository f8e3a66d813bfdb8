// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/layer_parts.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <torch/utils.h>

#include <memory>

#include "models/layers/transformer_layer.h"
#include "models/ops/maxout_attention.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench {
namespace {

constexpr int64_t layer_expansion = 4;
constexpr double norm_flops = 8;      // per channel: mean, variance, and the affine map
constexpr double residual_flops = 1;  // per channel

// A layer with the inputs of each of its parts.
struct Stages {
  Stages(const Sizes& sizes, int64_t keys) : generator(at::make_generator<at::CPUGeneratorImpl>(sizes.seed)) {
    torch::manual_seed(sizes.seed);
    LayerOptions options;
    options.attention.width = sizes.width;
    options.attention.heads = sizes.heads;
    options.attention.sampler.num_samples = keys;
    options.expansion = layer_expansion;
    layer = TransformerLayer(options);
    layer->eval();
    x = normal({sizes.batch * sizes.tokens, sizes.width}, generator);
    ptr = equal_offsets(sizes.batch, sizes.tokens);
    const auto heads = [&](const at::Tensor& rows) { return rows.view({rows.size(0), sizes.heads, -1}).contiguous(); };
    SamplingAttentionImpl& attention = *layer->attention;
    SamplingContext context = SamplingContext::seeded();
    const Pairs pairs = attention.sampler->forward(x, ptr, context);
    sampled = pairs.sample(x);
    sample_ptr = pairs.ptr;
    q = heads(attention.query->forward(x));
    k = heads(attention.key->forward(sampled));
    v = heads(attention.value->forward(sampled));
    leak = attention.leak->forward(sampled);
    mixed = attend().flatten(1);
  }

  at::Tensor attend() const {
    return maxout_attention(q, k, v, leak, std::nullopt, std::nullopt, ptr, sample_ptr, layer->attention->options.eps);
  }

  at::Generator generator;
  TransformerLayer layer{nullptr};
  at::Tensor x, ptr, sampled, q, k, v, leak, mixed;
  std::optional<at::Tensor> sample_ptr;
};

}  // namespace

LayerParts measure_layer_parts(const Sizes& sizes, int64_t keys, const TimingOptions& options,
                               const std::function<void()>& stop) {
  const at::NoGradGuard no_grad;
  const auto stages = std::make_shared<Stages>(sizes, keys);
  Stages& s = *stages;
  SamplingAttentionImpl& attention = *s.layer->attention;
  TransformerLayerImpl& layer = *s.layer;
  const auto context = std::make_shared<SamplingContext>(SamplingContext::seeded());
  const double n = static_cast<double>(s.x.size(0)), sampled = static_cast<double>(s.sampled.size(0)),
               d = static_cast<double>(sizes.width), h = static_cast<double>(sizes.heads),
               pairs = sampled * static_cast<double>(sizes.tokens);
  LayerParts result;
  result.keys = keys;
  std::vector<std::function<void()>> calls;
  const auto part = [&](const char* name, double flops, std::function<void()> call) {
    result.parts.push_back({name, flops, {}});
    calls.push_back(std::move(call));
  };
  part("sampler", 2 * n * d + 3 * sampled * d,
       [&, context] { attention.sampler->forward(s.x, s.ptr, *context).sample(s.x); });
  part("W_Q", 2 * n * d * d, [&] { attention.query->forward(s.x); });
  part("W_K, W_V and the leak", 2 * sampled * d * (2 * d + h), [&] {
    attention.key->forward(s.sampled);
    attention.value->forward(s.sampled);
    attention.leak->forward(s.sampled);
  });
  part("attention", 4 * pairs * d, [&] { s.attend(); });
  part("W_O", 2 * n * d * d, [&] { attention.output->forward(s.mixed); });
  part("feed-forward", 4 * n * d * d * static_cast<double>(layer_expansion),
       [&] { layer.contract->forward(at::gelu(layer.expand->forward(s.x))); });
  part("norms and residuals", 2 * n * d * (norm_flops + residual_flops), [&] {
    const at::Tensor y = layer.norm1->forward(s.x + s.mixed);
    layer.norm2->forward(y + s.x);
  });
  calls.emplace_back([&, context] { layer.forward(s.x, RelativeEncoding::none(), s.ptr, *context); });
  const std::vector<Timing> timings = time_in_turns(calls, options, stop);
  for (size_t i = 0; i < result.parts.size(); ++i) result.parts[i].timing = timings[i];
  result.layer = timings.back();
  return result;
}

}  // namespace geosft::bench
