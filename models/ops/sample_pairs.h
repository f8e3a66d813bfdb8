// SPDX-License-Identifier: Apache-2.0
// Differentiable sampling without replacement (SFT section 4.2).
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace geosft {

// Samples k' pairs of tokens from every item of a packed batch: `top` are the tokens of the largest scores z',
// `partner` come from the others, and the sampled token is weight * x[top] + (1 - weight) * x[partner] with
//     weight = softplus(z'[top])^(1/tau) / (softplus(z'[top])^(1/tau) + softplus(z'[partner])^(1/tau)).
// In an item of one token, top and partner are that token, and weight is 1.
//
//   score           [N], finite; z' = score, plus Gumbel(0, 1) noise when `noise` is set. float32, float64, or float16
//                   and bfloat16, which are computed in float32
//   k               samples asked for, >= 1; an item of n tokens gives k' = min(k, n / 2), 1 if n = 1, 0 if it is empty
//   ptr             int64 [B + 1], items of the packed batch; none: one item
//   random_partner  partners are uniform over the tokens that are not in `top`, in random order; otherwise they are the
//                   tokens of ranks k' + 1 ... 2k'
//   tau             temperature, > 0 and finite
//   generator       source of the seeds when `seeds` is absent; none: the default generator. Used only if the call is
//                   random
//   seeds           int64 [B]: noise and partners of an item are a function of its seed and the row within the item
//
// Returns top and partner (int64 [K], rows of the packed tokens; items in turn, descending z', ties to the lower row),
// weight ([K], differentiable in score) and sample_ptr (int64 [B + 1]). Errors name the argument.
//
// Traced (torch.compile, torch.export, fake tensors) without ptr K follows from N; with ptr it depends on the values of
// ptr and is an unbacked symbol, which torch.compile(fullgraph=True) takes, and without fullgraph needs
// torch._dynamo.config.capture_scalar_outputs for. A `generator` cannot be traced: give seeds. Meta tensors have no
// values: with a ptr on the meta device there is no result. With ptr on a GPU the call waits for it to read K, and
// cannot be captured in a CUDA graph; with ptr on the CPU, or none, it can (see ptr_on_device), if a random one is
// given seeds.
//
// torch.func.vmap calls the operators row by row. Random calls without seeds obey its randomness: "different", "same",
// or an error. The other transforms (grad, vjp, jvp, jacrev) are refused by an error that names the operator.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> sample_pairs(
    const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr = std::nullopt, bool noise = false,
    bool random_partner = false, double tau = 1.0, const std::optional<at::Generator>& generator = std::nullopt,
    const std::optional<at::Tensor>& seeds = std::nullopt);

// The sampled pairs, without weights; nothing here is differentiable. Building block of the variants of the sampler.
// `noise` [2, K] is the noise added to the scores of top (row 0) and partner (row 1). K is computed from ptr as in
// sample_pairs.
struct SampledPairs {
  at::Tensor top, partner, noise, sample_ptr;
};
SampledPairs select_pairs(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                          bool random_partner, const std::optional<at::Tensor>& seeds);

// Samples with replacement (SFT equations 10 and 11): both members of each of k samples are sampled independently,
// argmax_i(score_i + Gumbel) over the whole item; every non-empty item gives k samples.
SampledPairs select_pairs_with_replacement(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                           const at::Tensor& seeds);

// The weight of each sample, differentiable in score [N] (SFT section 4.2, step 3): with z' = score + noise,
// softplus(z'[top])^(1/tau) over its sum with softplus(z'[partner])^(1/tau); finite for every finite score; 1, without
// gradient, where top and partner are one token. On a GPU numbers that are no rows of score count as the nearest row:
// see gather_pairs.
at::Tensor pair_weight(const at::Tensor& score, const SampledPairs& pairs, double tau);

// Returns k' for an item of `tokens` tokens, without replacement.
inline int64_t num_samples_of(int64_t tokens, int64_t k) {
  return tokens == 1 ? 1 : std::min(k, tokens / 2);
}

// Returns seeds int64 [items] from a generator (nullopt: the default one).
at::Tensor sample_seeds(const c10::SymInt& items, const std::optional<at::Generator>& generator);

// For the kernels and the autograd function.

// Maximum samples of one item with replacement, where only k limits them: far beyond any use, and small enough that the
// samples of a batch can be counted.
inline constexpr int64_t max_samples_with_replacement = int64_t{1} << 31;

void check_score(const at::Tensor& score);
void check_num_samples(int64_t k);
void check_num_samples_with_replacement(int64_t k);
void check_tau(double tau);
void check_seeds(const std::optional<at::Tensor>& seeds, const std::optional<at::Tensor>& ptr, at::Device device);
// Checks everything that needs no values of ptr.
void check_sampling(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                    const std::optional<at::Tensor>& seeds);

}  // namespace geosft
