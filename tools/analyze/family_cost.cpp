// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/family_cost.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "data/seeds.h"
#include "models/layers/sparse_masks.h"
#include "tools/bench/attention_inputs.h"

namespace geosft {
namespace {

// Counts the groups of `factor` tokens that a token attends to, summed over all tokens.
double masked_pairs(const PrimalOptions& options, int64_t tokens, int64_t factor) {
  const std::vector<int64_t> offsets = {0, tokens};
  const SparseMask mask = sequence_mask(options.mask, options.mask_size, offsets);
  return static_cast<double>(pooled_mask(mask, offsets, factor).col.size(0));
}

// Returns the largest divisor that is at most the square root.
int64_t grid_height(int64_t tokens) {
  auto height = static_cast<int64_t>(std::sqrt(static_cast<double>(tokens)));
  while (tokens % height != 0) --height;
  return height;
}

PrimalOptions options_of(const std::string& name, const bench::Sizes& sizes) {
  PrimalOptions options = primal_options(name, sizes.heads);
  options.grid_height = grid_height(sizes.tokens);
  options.grid_width = sizes.tokens / options.grid_height;
  return options;
}

FamilyCost cost_of(const std::string& name, const bench::Sizes& sizes, bench::Pass pass,
                   const bench::TimingOptions& timing) {
  const PrimalOptions options = options_of(name, sizes);
  torch::manual_seed(sizes.seed);
  PrimalSelfAttention layer(sizes.width, sizes.heads, options);
  const at::Generator generator = make_generator(sizes.seed);
  const at::Tensor x = bench::normal({sizes.tokens, sizes.width}, generator).requires_grad_(true);
  bench::Tensors inputs = layer->parameters();
  inputs.push_back(x);
  const auto forward = [=]() mutable { return layer->forward(x, std::nullopt, RelativeEncoding::none()); };
  bench::Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {name, bench::measured_pass(pass, inputs, bench::normal(x.sizes(), generator), forward)}};
  const bench::Measurement measured = bench::measure(benchmark, timing, {}).front();
  return {name, sizes.tokens, primal_multiply_adds(options, sizes.width, sizes.heads, sizes.tokens),
          measured.timing.minimum, static_cast<double>(measured.peak_bytes)};
}

}  // namespace

double primal_multiply_adds(const PrimalOptions& options, int64_t width, int64_t heads, int64_t tokens) {
  const auto n = static_cast<double>(tokens), d = static_cast<double>(width), c = d / static_cast<double>(heads);
  const auto size = static_cast<double>(options.convolution_size);
  const double taps = options.convolution == ConvolutionKind::none       ? 0
                      : options.convolution == ConvolutionKind::sequence ? size
                                                                         : size * size;
  double sum = 2 * n * d * d + n * d * taps;
  for (int64_t s = 0; s < heads; ++s) {
    const int64_t factor = options.pool.empty() ? 1 : options.pool[static_cast<size_t>(s)];
    const int64_t keys = (tokens + factor - 1) / factor;
    const auto m = static_cast<double>(keys);
    sum += 2 * m * d * c + m * c * taps;
    if (options.linear) {
      sum += (n + m) * c * (c + 1);
    } else {
      sum += 2 * c * (options.mask == MaskKind::none ? n * m : masked_pairs(options, tokens, factor));
    }
  }
  return sum;
}

std::vector<FamilyCost> family_costs(const std::vector<std::string>& names, const bench::Sizes& sizes,
                                     const std::vector<int64_t>& tokens, bench::Pass pass,
                                     const bench::TimingOptions& options,
                                     const std::function<void(const FamilyCost&)>& told) {
  std::vector<FamilyCost> costs;
  for (const int64_t n : tokens) {
    bench::Sizes one = sizes;
    one.tokens = n;
    for (const std::string& name : names) {
      costs.push_back(cost_of(name, one, pass, options));
      told(costs.back());
    }
  }
  return costs;
}

}  // namespace geosft
