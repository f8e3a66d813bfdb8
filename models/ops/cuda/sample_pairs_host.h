// SPDX-License-Identifier: Apache-2.0
// Samples pairs on tensors, for the GPU and its emulation: run(PairSampling<T>) launches the kernels. The host reads
// nothing from the device: if ptr is on the device, every item is assumed to be as long as all rows together.
// Non-finite scores are not an error here, and give distinct rows.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/sample_pairs_kernel.cuh"
#include "models/ops/sample_pairs.h"

namespace geosft::cuda {

// How ranks are computed: by comparing each row with all rows of its item, by comparing only the rows that can be
// sampled, or by sorting.
enum class Ranking { kCounted, kSelected, kSorted };

struct SamplingOptions {
  bool noise, random_partner, replacement;
  int64_t k, samples;
  std::optional<Ranking> ranking = {};  // empty: the cheapest
};

// Returns an upper bound of the rows of an item, which determines the time of counting: `rows` if reading ptr would
// mean waiting for the device.
inline int64_t largest_possible(const std::optional<at::Tensor>& ptr, int64_t rows) {
  return given(ptr) && ptr->is_cpu() && rows > 0 ? ptr->diff().max().item<int64_t>() : rows;
}

// Offsets of the samples of every item, int64 [B + 1], on the device of ptr, if it is given.
inline at::Tensor sample_offsets(const at::Tensor& score, const std::optional<at::Tensor>& ptr,
                                 const SamplingOptions& options) {
  const at::Tensor tokens = given(ptr) ? ptr->diff() : at::full({1}, score.size(0), score.options().dtype(at::kLong));
  const at::Tensor some = tokens.clamp_max(1);
  const at::Tensor samples =
      options.replacement ? some * options.k : at::maximum(tokens.floor_divide(2).clamp_max(options.k), some);
  return at::constant_pad_nd(samples.cumsum(0), {1, 0});
}

// Rows that a sample takes in one phase: a top, and also its partner if that is the next in rank.
inline int64_t rows_per_sample(const SamplingOptions& options) {
  return options.random_partner ? 1 : 2;
}

// Returns the cheapest ranking: the kernel launches of a selection take as long as some 10^8 comparisons.
inline Ranking cheapest_ranking(int64_t rows, int64_t largest, const SamplingOptions& options) {
  constexpr double selection = 1 << 27;
  const auto chosen = static_cast<double>(rows_per_sample(options) * std::min(options.k, largest));
  if (static_cast<double>(rows) * static_cast<double>(largest) <= selection) return Ranking::kCounted;
  return static_cast<double>(rows_per_sample(options) * options.samples) * chosen <= selection ? Ranking::kSelected
                                                                                               : Ranking::kSorted;
}

inline Ranking ranking_of(int64_t rows, const std::optional<at::Tensor>& ptr, const SamplingOptions& options) {
  if (options.replacement) return Ranking::kCounted;  // sampling with replacement needs no ranking
  return options.ranking ? *options.ranking : cheapest_ranking(rows, largest_possible(ptr, rows), options);
}

// Orders the rows of each item by their keys (unsigned numbers), ties by row.
inline at::Tensor row_order(const at::Tensor& keys, const at::Tensor& ptr) {
  const at::Tensor signed_keys = keys.bitwise_xor(std::numeric_limits<int64_t>::min());
  const at::Tensor order = std::get<1>(signed_keys.sort(/*stable=*/true, 0, false));
  if (!ptr.defined()) return order;
  const at::Tensor item = at::searchsorted(ptr, order, /*out_int32=*/false, /*right=*/true);
  return order.index_select(0, std::get<1>(item.sort(/*stable=*/true, 0, false)));
}

// Holds a KeySelection and its working memory.
class Selection {
 public:
  // Selects, by keys (int64 for uint64), the rows that the samples can take.
  Selection(const PackedRows& packed, const at::Tensor& keys, int key_bits, const at::Tensor& out_ptr,
            const SamplingOptions& options)
      : place_ptr_(out_ptr * rows_per_sample(options)),
        places_(at::full({2, options.samples * rows_per_sample(options)}, -1, out_ptr.options())),
        state_(at::zeros({2, packed.items}, out_ptr.options())),
        count_(at::empty({tile_blocks(packed.rows, packed.items, kSelectionRows), kDigits},
                         out_ptr.options().dtype(at::kInt))) {
    int64_t* row = places_.mutable_data_ptr<int64_t>();
    int64_t* state = state_.mutable_data_ptr<int64_t>();
    call_ = {reinterpret_cast<const uint64_t*>(keys.const_data_ptr<int64_t>()),
             packed,
             place_ptr_.const_data_ptr<int64_t>(),
             places_.size(1),
             row,
             reinterpret_cast<uint64_t*>(row + places_.size(1)),
             count_.size(0),
             count_.mutable_data_ptr<int32_t>(),
             reinterpret_cast<uint64_t*>(state),
             state + packed.items,
             key_bits,
             0};
  }

  const KeySelection& call() const { return call_; }
  RankedRows ranked() const { return {{call_.place_ptr, call_.packed.items, call_.places}, call_.row_key, call_.row}; }

 private:
  at::Tensor place_ptr_, places_, state_, count_;
  KeySelection call_;
};

// Runs the phase of `call` that ranks rows by `keys`.
template <typename T, class Run>
void run_ranked(PairSampling<T> call, const at::Tensor& keys, int key_bits, const at::Tensor& ptr,
                const at::Tensor& out_ptr, Ranking ranking, const SamplingOptions& options, const Run& run) {
  std::optional<Selection> selection;
  at::Tensor order;
  if (ranking == Ranking::kSelected) {
    selection.emplace(call.packed, keys, key_bits, out_ptr, options);
    call.selection = selection->call();
    call.ranked = selection->ranked();
  } else if (ranking == Ranking::kSorted) {
    order = row_order(keys, ptr);
    call.ranked = {call.packed, nullptr, order.const_data_ptr<int64_t>()};
  } else {
    call.ranked = {call.packed, reinterpret_cast<const uint64_t*>(keys.const_data_ptr<int64_t>()), nullptr};
  }
  run(call);
}

template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> sampled_pairs(const at::Tensor& score,
                                                                         const std::optional<at::Tensor>& ptr,
                                                                         const std::optional<at::Tensor>& seeds,
                                                                         const SamplingOptions& options,
                                                                         const Run& run) {
  check_sampling(score, options.k, ptr, seeds);
  TORCH_CHECK(seeds.has_value() || !(options.noise || options.random_partner),
              "seeds must be given for random samples");
  TORCH_CHECK(options.samples >= 0, "samples must not be negative, got ", options.samples);
  const at::Tensor rows = ptr_on_device(ptr, score.device(), "ptr");
  const at::Tensor out_ptr = sample_offsets(score, rows.defined() ? std::optional(rows) : std::nullopt, options);
  const bool apart = given(ptr) && ptr->device() != score.device();
  const at::Tensor sample_ptr = apart ? ptr_with_device_copy(sample_offsets(score, ptr, options), out_ptr) : out_ptr;
  const auto index = score.options().dtype(at::kLong);
  const int64_t items = out_ptr.size(0) - 1, samples = options.samples;
  const Ranking ranking = ranking_of(score.size(0), ptr, options);
  const at::Tensor values = score.contiguous();
  const at::Tensor item_seeds = seeds.has_value() ? seeds->contiguous() : at::zeros({items}, index);
  const at::Tensor noise = at::empty_like(values), keys = at::empty({2, score.size(0)}, index);
  const at::Tensor chosen = at::zeros({2, samples}, index), added = at::zeros({2, samples}, score.options());
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "sample_pairs", [&] {
    uint64_t* key = reinterpret_cast<uint64_t*>(keys.mutable_data_ptr<int64_t>());
    int64_t* top = chosen.mutable_data_ptr<int64_t>();
    scalar_t* noise_top = added.mutable_data_ptr<scalar_t>();
    PairSampling<scalar_t> call{values.const_data_ptr<scalar_t>(),
                                {rows.defined() ? rows.const_data_ptr<int64_t>() : nullptr, items, score.size(0)},
                                item_seeds.const_data_ptr<int64_t>(),
                                options.noise,
                                options.random_partner,
                                out_ptr.const_data_ptr<int64_t>(),
                                samples,
                                noise.mutable_data_ptr<scalar_t>(),
                                key,
                                key + score.size(0),
                                top,
                                top + samples,
                                noise_top,
                                noise_top + samples,
                                options.replacement ? PairPhase::kReplacement : PairPhase::kKeys,
                                {},
                                {}};
    run(call);
    if (options.replacement) return;
    call.phase = PairPhase::kTop;
    run_ranked(call, keys[0], 8 * static_cast<int>(sizeof(scalar_t)), rows, out_ptr, ranking, options, run);
    if (!options.random_partner) return;
    call.phase = PairPhase::kPartner;
    run_ranked(call, keys[1], 64, rows, out_ptr, ranking, options, run);
  });
  return {chosen[0], chosen[1], added, sample_ptr};
}

// log(softplus(x)) and its derivative for every finite x, float64: see the CPU implementation.
inline at::Tensor log_softplus(const at::Tensor& x) {
  const at::Tensor softplus = at::logaddexp(x, at::zeros_like(x));
  return at::where(x < -30, x - 0.5 * x.exp(), softplus.log());
}
inline at::Tensor log_softplus_slope(const at::Tensor& x) {
  return at::where(x < -30, 1 - 0.5 * x.exp(), x.sigmoid() / at::logaddexp(x, at::zeros_like(x)));
}

// Returns the noisy scores of the sampled `rows`, float64.
inline at::Tensor noisy_scores(const at::Tensor& score, const at::Tensor& rows, const at::Tensor& noise) {
  return (score.index_select(0, rows) + noise).to(at::kDouble);
}

// Composed of LibTorch operations: K numbers each are not worth a kernel.
inline at::Tensor pair_weight_composite(const at::Tensor& score, const at::Tensor& top, const at::Tensor& partner,
                                        const at::Tensor& noise, double tau) {
  check_tau(tau);
  const at::Tensor tops = named_rows(top, score, "score"), partners = named_rows(partner, score, "score");
  const at::Tensor first = noisy_scores(score, tops, noise[0]), second = noisy_scores(score, partners, noise[1]);
  const at::Tensor weight = ((log_softplus(first) - log_softplus(second)) / tau).sigmoid();
  return at::where(tops == partners, at::ones_like(weight), weight).to(score.scalar_type());
}

// index_put_ accumulates rows that were sampled twice in a fixed order, so results are bitwise reproducible.
inline at::Tensor pair_weight_backward_composite(const at::Tensor& grad, const at::Tensor& score, const at::Tensor& top,
                                                 const at::Tensor& partner, const at::Tensor& noise, double tau) {
  const at::Tensor tops = named_rows(top, score, "score"), partners = named_rows(partner, score, "score");
  const at::Tensor first = noisy_scores(score, tops, noise[0]), second = noisy_scores(score, partners, noise[1]);
  const at::Tensor weight = ((log_softplus(first) - log_softplus(second)) / tau).sigmoid();
  const at::Tensor alone = tops == partners;
  const at::Tensor slope = at::where(alone, at::zeros_like(weight), grad.to(at::kDouble) * weight * (1 - weight) / tau);
  const at::Tensor parts = at::cat({slope * log_softplus_slope(first), -slope * log_softplus_slope(second)});
  return at::zeros_like(score, score.options().dtype(at::kDouble))
      .index_put_({at::cat({tops, partners})}, parts, /*accumulate=*/true)
      .to(score.scalar_type());
}

// Registers the operators for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_sample_pairs(torch::Library& m) {
  m.impl("_select_pairs", [](const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                             bool random_partner, const std::optional<at::Tensor>& seeds, int64_t samples) {
    return sampled_pairs(score, ptr, seeds, {noise, random_partner, false, k, samples},
                         Launcher(score.device(), "sample_pairs"));
  });
  m.impl("_select_pairs_with_replacement", [](const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                              const at::Tensor& seeds, int64_t samples) {
    return sampled_pairs(score, ptr, seeds, {true, false, true, k, samples},
                         Launcher(score.device(), "sample_pairs with replacement"));
  });
  m.impl("_pair_weight", pair_weight_composite);
  m.impl("_pair_weight_backward", pair_weight_backward_composite);
}

}  // namespace geosft::cuda
