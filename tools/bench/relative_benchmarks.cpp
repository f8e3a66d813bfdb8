// SPDX-License-Identifier: Apache-2.0
// Benchmarks point_attention and sequence_attention against composites that materialize n x k relative encodings.
#include <ATen/CPUGeneratorImpl.h>

#include "models/layers/relative_encoding.h"
#include "models/ops/point_attention.h"
#include "models/ops/sequence_attention.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

// Returns random weights of the relative encodings that require gradients.
BiasWeights random_weights(int64_t channels, const Sizes& sizes) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed + 1);
  const double spread = 1.0 / std::sqrt(static_cast<double>(channels));
  const auto leaf = [&](at::IntArrayRef shape, double by) {
    return (normal(shape, generator) * by).requires_grad_(true);
  };
  return {leaf({channels, sizes.heads}, spread), leaf({sizes.heads}, 1), leaf({channels, sizes.heads}, spread),
          leaf({sizes.heads}, 1)};
}

// Compares our operator with the composites; `bias` computes the composites' attention bias.
Benchmark compare(const std::string& name, const PackedInputs& in, const HeadsFirstInputs& first,
                  const BiasWeights& weights, Pass pass, const Work& work, const std::function<at::Tensor()>& ours,
                  const std::function<DenseBias()>& bias) {
  const auto leaves = [&](const auto& of) {
    return Tensors{of.q, of.k, of.v, of.leak, weights.w_mul, weights.b_mul, weights.w_add, weights.b_add};
  };
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", measured_pass(pass, leaves(in), in.grad_output, ours), work},
      {"cdist",
       measured_pass(pass, leaves(first), first.grad_output, [first, bias] { return cdist_attention(first, bias()); }),
       work, packed_rows},
      {"broadcasting",
       measured_pass(pass, leaves(first), first.grad_output,
                     [first, bias] { return broadcast_attention(first, bias()); }),
       work, packed_rows}};
  benchmark.keys = static_cast<double>(in.k.size(0)) / static_cast<double>(in.k_ptr.size(0) - 1);
  return benchmark;
}

struct QueryKeyPoints {
  at::Tensor x, xs, m, ms;  // [B, n, 3] and [B, k, 3]
};

QueryKeyPoints random_points(const Sizes& sizes, int64_t keys) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed + 2);
  const auto unit = [](const at::Tensor& v) { return v / v.norm(2, -1, /*keepdim=*/true); };
  return {0.5 * normal({sizes.batch, sizes.tokens, 3}, generator), 0.5 * normal({sizes.batch, keys, 3}, generator),
          unit(normal({sizes.batch, sizes.tokens, 3}, generator)), unit(normal({sizes.batch, keys, 3}, generator))};
}

// channels: 1, or with normals 2 or 4.
Benchmark make_points(const Sizes& sizes, int64_t keys, int64_t channels, Pass pass, const std::string& name) {
  const bool normals = channels > 1;
  const PackedInputs in = random_inputs(sizes, keys);
  const QueryKeyPoints p = random_points(sizes, keys);
  const BiasWeights w = random_weights(channels, sizes);
  const auto flat = [](const at::Tensor& rows) { return rows.flatten(0, 1); };
  const auto ours = [=] {
    using Optional = std::optional<at::Tensor>;
    return point_attention(in.q, in.k, in.v, in.leak, flat(p.x), flat(p.xs), normals ? Optional(flat(p.m)) : Optional(),
                           normals ? Optional(flat(p.ms)) : Optional(), w.w_mul, w.b_mul, w.w_add, w.b_add, in.q_ptr,
                           in.k_ptr, attention_eps);
  };
  const auto bias = [=] {
    const at::Tensor m = normals ? p.m : at::Tensor(), ms = normals ? p.ms : at::Tensor();
    return linear_bias(point_channels(p.x, p.xs, m, ms, channels > 2), w);
  };
  const AttentionShape shape = attention_shape(sizes, keys);
  const Work work = pass == Pass::both ? maxout_both_work(shape) : maxout_forward_work(shape);
  return compare(name, in, heads_first(in, sizes), w, pass, work, ours, bias);
}

Benchmark make_sequence(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, keys);
  const BiasWeights w = random_weights(sizes.width, sizes);
  const at::Tensor positions = sinusoids(sizes.tokens, sizes.width, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor s = positions.repeat({sizes.batch, 1, 1});
  const int64_t step = std::max<int64_t>(1, sizes.tokens / keys);
  const at::Tensor places = (at::arange(keys, at::TensorOptions().dtype(at::kLong)) * step).remainder(sizes.tokens);
  const at::Tensor ss = positions.index_select(0, places).repeat({sizes.batch, 1, 1});
  const auto ours = [=] {
    return sequence_attention(in.q, in.k, in.v, in.leak, s.flatten(0, 1), ss.flatten(0, 1), w.w_mul, w.b_mul, w.w_add,
                              w.b_add, in.q_ptr, in.k_ptr, attention_eps);
  };
  AttentionShape shape = attention_shape(sizes, keys);
  shape.relative = 2.0 * static_cast<double>(sizes.heads * sizes.width);
  const Work work = pass == Pass::both ? maxout_both_work(shape) : maxout_forward_work(shape);
  return compare(name, in, heads_first(in, sizes), w, pass, work, ours, [=] { return sequence_bias(s, ss, w); });
}

}  // namespace

Entries relative_entries(const Sizes& sizes) {
  Entries entries;
  struct Kind {
    int64_t channels;
    std::string name, about;
  };
  for (const Kind& kind : {Kind{1, "point_attention", "with squared distances"},
                           Kind{2, "point_attention_normals", "with squared distances and normal products"},
                           Kind{4, "point_attention_angles", "with squared distances, normal products and angles"}}) {
    for (const int64_t keys : sizes.keys) {
      for (const Pass pass : {Pass::forward, Pass::both}) {
        const std::string name = kind.name + "/k" + std::to_string(keys) + "/" + pass_name(pass);
        const int64_t channels = kind.channels;
        entries.push_back({name, kind.about, [=] { return make_points(sizes, keys, channels, pass, name); }});
      }
    }
  }
  for (const int64_t keys : sizes.keys) {
    for (const Pass pass : {Pass::forward, Pass::both}) {
      const std::string name = "sequence_attention/k" + std::to_string(keys) + "/" + pass_name(pass);
      entries.push_back({name, "with products of sinusoids", [=] { return make_sequence(sizes, keys, pass, name); }});
    }
  }
  return entries;
}

}  // namespace geosft::bench
