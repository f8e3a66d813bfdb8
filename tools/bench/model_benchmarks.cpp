// SPDX-License-Identifier: Apache-2.0
// Benchmarks the inference of whole encoders over sampling sizes, with and without relative encodings (SFT figure 5),
// and of the encoder of DeiT-tiny with attentions of the primal-dual family, against an encoder of the same width,
// heads and depth on LibTorch's scaled_dot_product_attention.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include <algorithm>

#include "models/layers/encoder.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

constexpr int64_t model_layers = 4, model_expansion = 4;

struct ModelKind {
  const char* name;
  const char* about;
  RelativeEncodingKind relative;
};
constexpr ModelKind model_kinds[] = {
    {"plain", "inference of four layers without relative encodings", RelativeEncodingKind::none},
    {"points", "the same with squared distances and normal products", RelativeEncodingKind::points},
    {"sequence", "the same with products of sinusoids in all channels", RelativeEncodingKind::sequence},
    {"graph", "the same with two channels on 8 edges a node", RelativeEncodingKind::graph}};

// Edges of a node, and channels of each: random ones, as those of graph_attention.
constexpr int64_t model_degree = 8, model_edge_channels = 2;

// Returns a graph of all items, each node with edges to consecutive nodes of its item.
RelativeEncoding random_edges(const Sizes& sizes, const at::Generator& generator) {
  const auto longs = at::TensorOptions().dtype(at::kLong);
  const int64_t nodes = sizes.batch * sizes.tokens, degree = std::min(model_degree, sizes.tokens);
  const at::Tensor first = at::randint(sizes.tokens, {nodes, 1}, generator, longs);
  const at::Tensor base = at::arange(nodes, longs).div(sizes.tokens, "floor").unsqueeze(1) * sizes.tokens;
  const at::Tensor column = base + (first + at::arange(degree, longs)).remainder(sizes.tokens);
  return RelativeEncoding::graph(equal_offsets(nodes, degree), column.flatten(),
                                 normal({nodes * degree, model_edge_channels}, generator));
}

// Returns the encoding of all tokens, and sets its number of channels.
RelativeEncoding model_relative_encoding(RelativeEncodingKind kind, const Sizes& sizes, const at::Generator& generator,
                                         int64_t& channels) {
  const int64_t rows = sizes.batch * sizes.tokens;
  if (kind == RelativeEncodingKind::points) {
    channels = 2;
    const at::Tensor normals = normal({rows, 3}, generator);
    return RelativeEncoding::points(normal({rows, 3}, generator), normals / normals.norm(2, 1, /*keepdim=*/true));
  }
  if (kind == RelativeEncodingKind::none) return RelativeEncoding::none();
  if (kind == RelativeEncodingKind::graph) {
    channels = model_edge_channels;
    return random_edges(sizes, generator);
  }
  channels = sizes.width;
  return RelativeEncoding::sequence(sinusoids(sizes.tokens, channels, at::kFloat).repeat({sizes.batch, 1}));
}

// An encoder of ours, as a function that returns its tokens, and as many layers on SDPA over `items` [B, n, width].
template <class Ours>
Benchmark beside_sdpa(const std::string& name, const Ours& ours, int64_t layers, int64_t heads,
                      const at::Tensor& items) {
  std::vector<SdpaEncoderLayer> baseline;
  for (int64_t layer = 0; layer < layers; ++layer) {
    baseline.emplace_back(items.size(2), heads, model_expansion * items.size(2));
    baseline.back()->eval();
  }
  const auto whole = [=]() mutable {
    at::Tensor y = items;
    for (SdpaEncoderLayer& layer : baseline) y = layer->forward(y);
    return y;
  };
  Benchmark benchmark{name,
                      {{"geosft", measured_pass(Pass::forward, {}, {}, ours)},
                       {"encoder on SDPA", measured_pass(Pass::forward, {}, {}, whole)}}};
  benchmark.keys = static_cast<double>(items.size(1));
  return benchmark;
}

Benchmark make_model(const ModelKind& kind, const Sizes& sizes, int64_t keys, const std::string& name) {
  torch::manual_seed(sizes.seed);
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const at::Tensor x = normal({sizes.batch * sizes.tokens, sizes.width}, generator);
  const at::Tensor ptr = equal_offsets(sizes.batch, sizes.tokens);
  LayerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.relative = kind.relative;
  options.attention.sampler.num_samples = keys;
  options.expansion = model_expansion;
  const RelativeEncoding relative =
      model_relative_encoding(kind.relative, sizes, generator, options.attention.relative_channels);
  Encoder ours(options, model_layers);
  ours->eval();
  const auto sampled = [=]() mutable {
    SamplingContext context = SamplingContext::seeded();
    return ours->forward(x, relative, ptr, context);
  };
  Benchmark benchmark =
      beside_sdpa(name, sampled, model_layers, sizes.heads, x.view({sizes.batch, sizes.tokens, sizes.width}));
  benchmark.implementations[0].keys = static_cast<double>(keys);
  return benchmark;
}

// The encoder of DeiT-tiny: 12 layers of width 192 over 14 x 14 patches and a class token.
constexpr int64_t deit_layers = 12, deit_width = 192, deit_side = 14, deit_tokens = deit_side * deit_side + 1;

struct DeitKind {
  const char* attention;
  int64_t heads;
};
constexpr DeitKind deit_kinds[] = {{"softmax", 3}, {"bn", 4}, {"sh", 4}, {"bn_sh", 4}, {"conv2d", 4}};

Benchmark make_deit(const DeitKind& kind, const Sizes& sizes, const std::string& name) {
  torch::manual_seed(sizes.seed);
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const at::Tensor x = normal({sizes.batch * deit_tokens, deit_width}, generator);
  const at::Tensor ptr = equal_offsets(sizes.batch, deit_tokens);
  LayerOptions options;
  options.attention.width = deit_width;
  options.attention.heads = kind.heads;
  options.norm = NormPlacement::pre;
  choose_attention(options, kind.attention);
  options.primal.class_token = true;
  options.primal.grid_height = options.primal.grid_width = deit_side;
  Encoder ours(options, deit_layers);
  ours->eval();
  const auto family = [=]() mutable {
    SamplingContext context = SamplingContext::seeded();
    return ours->forward(x, RelativeEncoding::none(), ptr, context);
  };
  return beside_sdpa(name, family, deit_layers, kind.heads, x.view({sizes.batch, deit_tokens, deit_width}));
}

}  // namespace

Entries model_entries(const Sizes& sizes) {
  Entries entries;
  for (const ModelKind& kind : model_kinds) {
    for (const int64_t keys : sizes.keys) {
      const std::string name = "model/" + std::string(kind.name) + "/k" + std::to_string(keys);
      entries.push_back({name, kind.about, [=] { return make_model(kind, sizes, keys, name); }});
    }
  }
  for (const DeitKind& kind : deit_kinds) {
    const std::string name = "model/deit_tiny/" + std::string(kind.attention);
    entries.push_back({name, "inference of DeiT-tiny's encoder on --batch pictures of 224 x 224",
                       [=] { return make_deit(kind, sizes, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
