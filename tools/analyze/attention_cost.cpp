// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/attention_cost.h"

#include <algorithm>
#include <cmath>

#include "data/seeds.h"
#include "models/layers/relative_encoding.h"
#include "models/ops/point_attention.h"
#include "models/ops/polynomial_attention.h"
#include "models/ops/primal_attention.h"
#include "models/ops/sequence_attention.h"
#include "tools/bench/composites.h"
#include "tools/bench/scaling.h"

namespace geosft {
namespace {

using bench::measured_pass;
using bench::normal;
using bench::PackedInputs;
using bench::Pass;
using bench::random_inputs;
using bench::Sizes;

// One forward and backward pass of an item of sizes.tokens over the given number of keys.
using Call = std::function<bench::Tensors()>;
using Attention = std::function<Call(const Sizes&, int64_t keys)>;

// Returns random linear maps of `channels` relative channels to heads.
bench::BiasWeights bias_weights(int64_t channels, const Sizes& sizes, const at::Generator& generator) {
  const at::Tensor w = normal({channels, sizes.heads}, generator) / std::sqrt(static_cast<double>(channels));
  const at::Tensor b = normal({sizes.heads}, generator);
  return {w, b, w, b};
}

Call with_points(const Sizes& sizes, int64_t keys) {
  const PackedInputs in = random_inputs(sizes, keys);
  const at::Generator generator = make_generator(sizes.seed);
  const at::Tensor x = normal({sizes.tokens, 3}, generator), xs = normal({keys, 3}, generator);
  const bench::BiasWeights w = bias_weights(1, sizes, generator);
  return measured_pass(Pass::both, {in.q, in.k, in.v, in.leak}, in.grad_output, [=] {
    return point_attention(in.q, in.k, in.v, in.leak, x, xs, std::nullopt, std::nullopt, w.w_mul, w.b_mul, w.w_add,
                           w.b_add, in.q_ptr, in.k_ptr, bench::attention_eps);
  });
}

Call with_sinusoids(const Sizes& sizes, int64_t keys) {
  const PackedInputs in = random_inputs(sizes, keys);
  const at::TensorOptions type = in.q.options().requires_grad(false);
  const at::Tensor s = sinusoids(sizes.tokens, sizes.width, type), ss = sinusoids(keys, sizes.width, type);
  const bench::BiasWeights w = bias_weights(sizes.width, sizes, make_generator(sizes.seed));
  return measured_pass(Pass::both, {in.q, in.k, in.v, in.leak}, in.grad_output, [=] {
    return sequence_attention(in.q, in.k, in.v, in.leak, s, ss, w.w_mul, w.b_mul, w.w_add, w.b_add, in.q_ptr, in.k_ptr,
                              bench::attention_eps);
  });
}

Call softmax(const Sizes& sizes, int64_t keys) {
  const bench::HeadsFirstInputs in = bench::heads_first(random_inputs(sizes, keys), sizes);
  return measured_pass(Pass::both, {in.q, in.k, in.v}, in.grad_output, [in] { return bench::softmax_attention(in); });
}

Call linear(const Sizes& sizes, int64_t keys) {
  const PackedInputs in = random_inputs(sizes, keys);
  return measured_pass(Pass::both, {in.q, in.k, in.v}, in.grad_output, [in] {
    return primal_attention(in.q, in.k, in.v, std::nullopt, std::nullopt, "linear", 1e-6, in.q_ptr, in.k_ptr);
  });
}

// Uses heads of 8 channels, to limit the number of monomials of degree 2.
Call polynomial(Sizes sizes, int64_t keys) {
  constexpr int64_t channels = 8;
  sizes.heads = sizes.width / channels;
  const PackedInputs in = random_inputs(sizes, keys);
  return measured_pass(Pass::both, {in.q, in.k, in.v}, in.grad_output, [in] {
    return polynomial_attention(in.q, in.k, in.v, 2, 1.0 / std::sqrt(double(channels)), false, in.q_ptr, in.k_ptr);
  });
}

Attention scaled(bench::ScaledImplementation (*over_keys)(int64_t)) {
  return [over_keys](const Sizes& sizes, int64_t keys) { return over_keys(keys)(sizes).run; };
}

const std::vector<std::pair<std::string, Attention>>& over_sampled_keys() {
  static const std::vector<std::pair<std::string, Attention>> all = {
      {"maxout", scaled(bench::maxout_over_keys)},
      {"maxout with distances", with_points},
      {"maxout with edges", scaled(bench::graph_attention_over_keys)},
      {"maxout with sinusoids", with_sinusoids},
      {"softmax", softmax},
      {"linear", linear},
      {"polynomial of degree 2", polynomial}};
  return all;
}

AttentionCost cost_of(const std::string& name, bool all_tokens, const Attention& attention, Sizes sizes, int64_t tokens,
                      int64_t keys, const bench::TimingOptions& options) {
  sizes.batch = 1;
  sizes.tokens = tokens;
  bench::Benchmark benchmark{name, {}};
  benchmark.implementations = {{name, attention(sizes, keys)}};
  const bench::Measurement measured = bench::measure(benchmark, options, {}).front();
  return {name, all_tokens, tokens, keys, measured.timing.minimum, static_cast<double>(measured.peak_bytes)};
}

}  // namespace

std::vector<AttentionCost> attention_costs(const Sizes& sizes, const std::vector<int64_t>& tokens,
                                           int64_t max_full_tokens, const bench::TimingOptions& options,
                                           const std::function<void(const AttentionCost&)>& told) {
  std::vector<AttentionCost> costs;
  const auto add = [&](const std::string& name, bool all_tokens, const Attention& attention, int64_t n, int64_t keys) {
    costs.push_back(cost_of(name, all_tokens, attention, sizes, n, keys, options));
    told(costs.back());
  };
  const int64_t max_tokens = *std::max_element(tokens.begin(), tokens.end());
  const int64_t max_keys = *std::max_element(sizes.keys.begin(), sizes.keys.end());
  for (const auto& [name, attention] : over_sampled_keys()) {
    for (const int64_t n : tokens) add(name, false, attention, n, max_keys);
    for (const int64_t keys : sizes.keys) {
      if (keys != max_keys) add(name, false, attention, max_tokens, keys);
    }
  }
  for (const int64_t n : tokens) {
    if (n <= max_full_tokens) add("softmax, all tokens", true, softmax, n, n);
    add("linear, all tokens", true, linear, n, n);
    add("polynomial of degree 2, all tokens", true, polynomial, n, n);
  }
  return costs;
}

}  // namespace geosft
