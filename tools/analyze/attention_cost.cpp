// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/attention_cost.h"

#include "data/seeds.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/polynomial_attention.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/composites.h"

namespace geosft {
namespace {

using bench::PackedInputs;
using bench::Pass;
using bench::Sizes;
using bench::Tensors;

struct Candidate {
  std::string name;
  int64_t keys;
  std::function<Tensors()> call;
};

Sizes one_item(Sizes sizes, int64_t tokens) {
  sizes.batch = 1;
  sizes.tokens = tokens;
  return sizes;
}

Candidate sampled(const Sizes& sizes, int64_t keys) {
  const PackedInputs in = bench::random_inputs(sizes, keys);
  const auto forward = [in] {
    return maxout_attention(in.q, in.k, in.v, in.leak, std::nullopt, std::nullopt, in.q_ptr, in.k_ptr,
                            bench::attention_eps);
  };
  return {"sampling, k = " + std::to_string(keys), keys,
          bench::measured_pass(Pass::both, {in.q, in.k, in.v, in.leak}, in.upstream, forward)};
}

Candidate with_points(const Sizes& sizes, int64_t keys) {
  const PackedInputs in = bench::random_inputs(sizes, keys);
  const at::Generator generator = make_generator(sizes.seed);
  const at::Tensor x = bench::normal({sizes.tokens, 3}, generator), xs = bench::normal({keys, 3}, generator);
  const at::Tensor w = bench::normal({1, sizes.heads}, generator), b = bench::normal({sizes.heads}, generator);
  const auto forward = [=] {
    return point_attention(in.q, in.k, in.v, in.leak, x, xs, std::nullopt, std::nullopt, w, b, w, b, in.q_ptr, in.k_ptr,
                           bench::attention_eps);
  };
  return {"sampling with distances, k = " + std::to_string(keys), keys,
          bench::measured_pass(Pass::both, {in.q, in.k, in.v, in.leak}, in.upstream, forward)};
}

// Over all tokens in heads of 8 channels, where the monomials of degree 2 are few.
Candidate polynomial(Sizes sizes) {
  constexpr int64_t channels = 8;
  sizes.heads = sizes.width / channels;
  const PackedInputs in = bench::random_inputs(sizes, sizes.tokens);
  const auto forward = [in] { return polynomial_attention(in.q, in.k, in.v, 2, 1.0 / std::sqrt(double(channels))); };
  return {"polynomial of degree 2, all tokens", sizes.tokens,
          bench::measured_pass(Pass::both, {in.q, in.k, in.v}, in.upstream, forward)};
}

Candidate full_softmax(const Sizes& sizes) {
  const bench::HeadsFirstInputs in = bench::heads_first(bench::random_inputs(sizes, sizes.tokens), sizes);
  return {"softmax, all tokens", sizes.tokens, bench::measured_pass(Pass::both, {in.q, in.k, in.v}, in.upstream, [in] {
            return bench::softmax_attention(in);
          })};
}

AttentionCost cost_of(const Candidate& candidate, int64_t tokens, const bench::TimingOptions& options) {
  bench::Benchmark benchmark{candidate.name, {}};
  benchmark.contenders = {{candidate.name, candidate.call}};
  const bench::Measurement measured = bench::measure(benchmark, options, {}).front();
  return {candidate.name, tokens, candidate.keys, measured.timing.minimum, static_cast<double>(measured.peak_bytes)};
}

}  // namespace

std::vector<AttentionCost> attention_costs(const Sizes& sizes, const std::vector<int64_t>& tokens, int64_t most_full,
                                           const bench::TimingOptions& options,
                                           const std::function<void(const AttentionCost&)>& told) {
  std::vector<AttentionCost> costs;
  const auto add = [&](const Candidate& candidate, int64_t n) {
    costs.push_back(cost_of(candidate, n, options));
    told(costs.back());
  };
  for (const int64_t n : tokens) {
    const Sizes one = one_item(sizes, n);
    for (const int64_t keys : sizes.keys) {
      add(sampled(one, keys), n);
      add(with_points(one, keys), n);
    }
    add(polynomial(one), n);
    if (n <= most_full) add(full_softmax(one), n);
  }
  return costs;
}

}  // namespace geosft
