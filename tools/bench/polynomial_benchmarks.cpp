// SPDX-License-Identifier: Apache-2.0
// Benchmarks polynomial_attention over all tokens against exact attention, a different function with the same shapes.
#include "models/ops/polynomial_attention.h"

#include <cmath>

#include "models/ops/low_rank_gradient.h"
#include "models/ops/monomials.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"
#include "tools/bench/scaling.h"

namespace geosft::bench {
namespace {

// Maximum columns of the paper's U3 times channels; beyond it, its gradient takes minutes at usual sizes.
constexpr int64_t kMaxKronecker = 50000;

double usual_scale(const Sizes& sizes) {
  return 1 / std::sqrt(static_cast<double>(sizes.channels()));
}

// polynomial_attention over all tokens, with scale 1 / sqrt(c); `in` has as many keys as queries.
Implementation polynomial_implementation(const Sizes& sizes, int64_t degree, Pass pass, const PackedInputs& in) {
  const auto ours = [in, degree, scale = usual_scale(sizes)] {
    return polynomial_attention(in.q, in.k, in.v, degree, scale, false, in.q_ptr, in.k_ptr);
  };
  const PolynomialShape shape{static_cast<double>(sizes.batch * sizes.heads), static_cast<double>(sizes.tokens),
                              static_cast<double>(sizes.channels()), static_cast<double>(degree),
                              static_cast<double>(monomial_count(sizes.channels(), degree))};
  return {"geosft", measured_pass(pass, {in.q, in.k, in.v}, in.grad_output, ours),
          pass == Pass::both ? polynomial_both_work(shape) : polynomial_forward_work(shape)};
}

// Benchmarks forward and backward with the operator's gradient and with the paper's.
Benchmark make_gradients(const Sizes& sizes, int64_t degree, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, sizes.tokens);
  const auto paper = [in, degree, scale = usual_scale(sizes)] {
    return polynomial_attention_low_rank(in.q, in.k, in.v, degree, scale, false, in.q_ptr, in.k_ptr);
  };
  Benchmark benchmark{name,
                      {polynomial_implementation(sizes, degree, Pass::both, in),
                       {"the paper's gradient", measured_pass(Pass::both, {in.q, in.k, in.v}, in.grad_output, paper)}}};
  benchmark.keys = static_cast<double>(sizes.tokens);
  return benchmark;
}

Benchmark make_polynomial(const Sizes& sizes, int64_t degree, Pass pass, const std::string& name) {
  const PackedInputs in = random_inputs(sizes, sizes.tokens);
  const HeadsFirstInputs first = heads_first(in, sizes);
  const AttentionShape shape = attention_shape(sizes, sizes.tokens);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {polynomial_implementation(sizes, degree, pass, in),
                               {"scaled_dot_product_attention",
                                measured_pass(pass, {first.q, first.k, first.v}, first.grad_output,
                                              [first] { return softmax_attention(first); }),
                                pass == Pass::both ? dot_both_work(shape) : dot_forward_work(shape)}};
  benchmark.keys = static_cast<double>(sizes.tokens);
  return benchmark;
}

}  // namespace

ScaledImplementation polynomial_over_all(int64_t degree) {
  return [degree](const Sizes& sizes) {
    return polynomial_implementation(sizes, degree, Pass::both, random_inputs(sizes, sizes.tokens));
  };
}

Entries polynomial_entries(const Sizes& sizes) {
  Entries entries;
  for (const int64_t degree : {2, 4}) {
    const int64_t channels = sizes.channels(), monomials = monomial_count(channels, degree);
    if (monomials > kMaxMonomials) continue;
    for (const Pass pass : {Pass::forward, Pass::both}) {
      const std::string name = "polynomial_attention/g" + std::to_string(degree) + "/" + pass_name(pass);
      entries.push_back({name, "attention of all tokens over all, by a polynomial of degree " + std::to_string(degree),
                         [=] { return make_polynomial(sizes, degree, pass, name); }});
    }
    if (monomials * (channels + 1) * channels > kMaxKronecker) continue;
    const std::string name = "polynomial_attention/g" + std::to_string(degree) + "/gradients";
    entries.push_back({name, "the same with its own gradient and with the paper's, forward and backward",
                       [=] { return make_gradients(sizes, degree, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
