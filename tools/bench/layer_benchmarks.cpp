// SPDX-License-Identifier: Apache-2.0
// Benchmarks a whole layer in training mode, dropout 0, against LibTorch's transformer layer of the same width. Forward
// records for autograd, as in training; gradients are computed for the tokens and all parameters.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/transformerlayer.h>
#include <torch/utils.h>

#include "models/layers/transformer_layer.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

constexpr int64_t expansion = 4;

LayerOptions layer_options(const Sizes& sizes, int64_t keys) {
  LayerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.sampler.num_samples = keys;
  options.expansion = expansion;
  return options;
}

// Computes the layer with a trivial attention whose result depends on q, k, v and leak, to time everything else.
at::Tensor around_attention(TransformerLayer& layer, const at::Tensor& x, const at::Tensor& ptr,
                            SamplingContext& context) {
  SamplingAttentionImpl& attention = *layer->attention;
  const at::Tensor sampled = attention.sampler->forward(x, ptr, context).sample(x);
  const at::Tensor k = attention.key->forward(sampled), v = attention.value->forward(sampled);
  const at::Tensor mixed =
      attention.query->forward(x) + (k.mean(0) + v.mean(0)) + attention.leak->forward(sampled).mean();
  const at::Tensor y = layer->norm1->forward(x + attention.output->forward(mixed));
  return layer->norm2->forward(y + layer->contract->forward(at::gelu(layer->expand->forward(y))));
}

// Returns a pass of a layer in training mode.
std::function<Tensors()> trained(Pass pass, torch::nn::Module& module, const at::Tensor& x,
                                 const at::Tensor& grad_output, std::function<at::Tensor()> forward) {
  if (pass == Pass::forward) return [forward = std::move(forward)] { return Tensors{forward()}; };
  Tensors inputs = module.parameters();
  inputs.push_back(x);
  return measured_pass(Pass::both, inputs, grad_output, std::move(forward));
}

Benchmark make_layer(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  torch::manual_seed(sizes.seed);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const at::Tensor x = normal({sizes.batch * sizes.tokens, sizes.width}, generator).requires_grad_(true);
  const at::Tensor grad_output = normal(x.sizes(), generator), ptr = equal_offsets(sizes.batch, sizes.tokens);
  const auto items_first = [&](const at::Tensor& rows) {
    return rows.detach().view({sizes.batch, sizes.tokens, sizes.width});
  };
  const at::Tensor x_items = items_first(x).clone().requires_grad_(true), grad_items = items_first(grad_output);
  const at::Tensor x_tokens = items_first(x).transpose(0, 1).contiguous().requires_grad_(true);
  const at::Tensor grad_tokens = grad_items.transpose(0, 1).contiguous();

  TransformerLayer ours(layer_options(sizes, keys));
  const int64_t hidden = expansion * sizes.width;
  torch::nn::TransformerEncoderLayer module(torch::nn::TransformerEncoderLayerOptions(sizes.width, sizes.heads)
                                                .dim_feedforward(hidden)
                                                .dropout(0.0)
                                                .activation(torch::kGELU));
  SdpaEncoderLayer sdpa(sizes.width, sizes.heads, hidden);
  const auto context = std::make_shared<SamplingContext>(SamplingContext::training(generator));
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", trained(pass, *ours, x, grad_output,
                         [=]() mutable { return ours->forward(x, RelativeEncoding::none(), ptr, *context); })},
      {"geosft, attention free",
       trained(pass, *ours, x, grad_output, [=]() mutable { return around_attention(ours, x, ptr, *context); })},
      {"encoder layer on SDPA",
       trained(pass, *sdpa, x_items, grad_items, [=]() mutable { return sdpa->forward(x_items); })},
      {"torch::nn::TransformerEncoderLayer",
       trained(pass, *module, x_tokens, grad_tokens, [=]() mutable { return module->forward(x_tokens); })}};
  // Transformer baselines attend to all tokens, ours to a sample of them.
  benchmark.keys = static_cast<double>(sizes.tokens);
  benchmark.implementations[0].keys = static_cast<double>(keys);
  return benchmark;
}

}  // namespace

Entries layer_entries(const Sizes& sizes) {
  return entries_by_keys(sizes, "layer", "sampling, attention and feed-forward, in training mode without dropout",
                         make_layer);
}

}  // namespace geosft::bench
