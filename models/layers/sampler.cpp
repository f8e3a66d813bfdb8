// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampler.h"

#include <ATen/OpMathType.h>

#include "models/ops/gather_pairs.h"
#include "models/ops/non_finite_error.h"
#include "models/ops/sample_pairs.h"

namespace geosft {
namespace {

// Returns the same samples with `top` sorted by row instead of score. Partners are in random order, so any order of
// `top` is valid; with this one, rounding that swaps two nearly equal scores does not change the pairs.
SampledPairs paired_by_row(const SampledPairs& sampled) {
  // Items are contiguous, so sorting all rows sorts each item.
  const auto [top, order] = sampled.top.sort();
  return {top, sampled.partner, at::stack({sampled.noise[0].index_select(0, order), sampled.noise[1]}),
          sampled.sample_ptr};
}

SampledPairs sample_members(const at::Tensor& score, const std::optional<at::Tensor>& ptr,
                            const SamplerOptions& options, SamplingContext& context) {
  if (context.mode() == SampleMode::greedy)
    return select_pairs(score, options.num_samples, ptr, false, false, std::nullopt);
  const at::Tensor seeds = context.next_seeds(ptr.has_value() ? ptr->size(0) - 1 : 1, score.device());
  if (options.with_replacement) return select_pairs_with_replacement(score, options.num_samples, ptr, seeds);
  return paired_by_row(select_pairs(score, options.num_samples, ptr, options.noise, /*random_partner=*/true, seeds));
}

// Returns exp(z'/tau) of `top` divided by the sum over the pair; 1, without gradient, if both members are the same
// token.
at::Tensor gumbel_softmax_weight(const at::Tensor& score, const SampledPairs& pairs, double tau) {
  const at::Tensor difference = score.index_select(0, pairs.top) - score.index_select(0, pairs.partner);
  const at::Tensor weight = ((difference + (pairs.noise[0] - pairs.noise[1])) / tau).sigmoid();
  return at::where(pairs.top == pairs.partner, at::ones_like(weight), weight);
}

// Says why scores of tokens x [N, width] are not finite.
NonFiniteError error_of_tokens(const at::Tensor& x) {
  const at::Tensor broken = at::isfinite(x).flatten(1).all(1).logical_not();
  if (!broken.any().item<bool>()) {
    return NonFiniteError(
        "scores x W_S + b_S of the tokens must be finite, found NaN or infinity although the tokens x are finite: the "
        "weights of the sampler are too large, or not finite themselves");
  }
  return NonFiniteError(c10::str("x, the tokens, must be finite, found NaN or infinity in ",
                                 broken.sum().item<int64_t>(), " of ", x.size(0), " rows, the first of them row ",
                                 broken.to(at::kByte).argmax().item<int64_t>()));
}

}  // namespace

at::Tensor Pairs::sample(const at::Tensor& x) const {
  at::Tensor blend = gather_pairs(x, top, partner, weight);
  if (!hard) return blend;
  const at::Tensor winner = x.detach().index_select(0, at::where(weight >= 0.5, top, partner));
  // blend - blend.detach() is exactly zero: the value is that of the winner, the gradient that of the blend.
  return winner + (blend - blend.detach());
}

int64_t sample_count(int64_t tokens, const SamplerOptions& options) {
  if (options.with_replacement) return tokens > 0 ? options.num_samples : 0;
  return num_samples_of(tokens, options.num_samples);
}

Pairs weigh(const at::Tensor& score, const SampledPairs& sampled, const SamplerOptions& options) {
  at::Tensor differentiable = score;
  if (options.with_replacement) {
    const double share = 1.0 / static_cast<double>(options.num_samples);
    differentiable = score.detach() + share * (score - score.detach());
  }
  const at::Tensor weight = options.weighting == PairWeighting::softplus
                                ? pair_weight(differentiable, sampled, options.tau)
                                : gumbel_softmax_weight(differentiable, sampled, options.tau);
  return {sampled.top, sampled.partner, weight, sampled.sample_ptr, options.hard};
}

Pairs sample_tokens(const at::Tensor& score, const std::optional<at::Tensor>& ptr, const SamplerOptions& options,
                    SamplingContext& context) {
  const at::Tensor wide = score.to(at::toOpMathType(score.scalar_type()));
  const SampledPairs sampled = sample_members(wide, ptr, options, context);
  context.note_choice(sampled.top, sampled.partner, sampled.sample_ptr);
  Pairs pairs = weigh(wide, sampled, options);
  pairs.weight = pairs.weight.to(score.scalar_type());
  return pairs;
}

SamplerImpl::SamplerImpl(int64_t width, SamplerOptions sampler_options)
    : options(sampler_options), projection(register_module("projection", torch::nn::Linear(width, 1))) {
  TORCH_CHECK(options.num_samples >= 1, "num_samples must be at least 1, got ", options.num_samples);
  check_tau(options.tau);
}

at::Tensor SamplerImpl::score(const at::Tensor& x) {
  const int64_t width = projection->options.in_features();
  TORCH_CHECK(x.dim() == 2 && x.size(1) == width, "x must have shape [N, ", width, "], got ", x.sizes());
  return projection->forward(x).squeeze(-1).to(x.scalar_type());  // with and without autocast
}

Pairs SamplerImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  try {
    return sample_tokens(score(x), ptr, options, context);
  } catch (const NonFiniteError&) {
    throw error_of_tokens(x);
  }
}

}  // namespace geosft
