// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/philox.h"
#include "models/ops/non_finite_error.h"

namespace geosft {
namespace {

using Quadruple = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// Minimum tokens per parallel task.
constexpr int64_t tokens_per_task = 4096;

// Returns log(softplus(x)) for every finite x: softplus underflows for x < -745, log softplus(x) = x - e^x / 2 does
// not.
double log_softplus(double x) {
  if (x < -30) return x - 0.5 * std::exp(x);
  return std::log(x > 30 ? x : std::log1p(std::exp(x)));
}

// Returns d/dx log(softplus(x)) = sigmoid(x) / softplus(x), which tends to 1 for x -> -inf.
double log_softplus_slope(double x) {
  if (x < -30) return 1 - 0.5 * std::exp(x);
  return 1 / ((1 + std::exp(-x)) * (x > 30 ? x : std::log1p(std::exp(x))));
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

template <typename Key>
struct Ranked {
  Key key;
  int64_t row;
};

// Moves the `count` entries that come first by (key, row) to the front, in order.
template <typename Key>
void order_front(std::vector<Ranked<Key>>& entries, int64_t count) {
  const auto before = [](const Ranked<Key>& a, const Ranked<Key>& b) {
    return a.key < b.key || (a.key == b.key && a.row < b.row);
  };
  const auto middle = entries.begin() + count;
  if (middle != entries.end()) std::nth_element(entries.begin(), middle, entries.end(), before);
  std::sort(entries.begin(), middle, before);
}

template <typename T>
struct PairSampler {
  const T* score;
  bool noise, random_partner;
  int64_t* top;
  int64_t* partner;
  T* noise_top;
  T* noise_partner;

  T noise_of(uint64_t seed, int64_t row) const {
    return noise ? static_cast<T>(gumbel(philox(seed, row, 0).first())) : T(0);
  }

  // Samples the item with rows first … first + tokens - 1, and writes `samples` samples at `out`.
  void item(int64_t first, int64_t tokens, int64_t samples, int64_t out, uint64_t seed) const {
    if (samples == 0) return;
    std::vector<T> added(tokens);
    std::vector<Ranked<T>> ranked(tokens);
    for (int64_t row = 0; row < tokens; ++row) {
      added[row] = noise_of(seed, row);
      ranked[row] = {-(score[first + row] + added[row]), row};
    }
    const bool alone = tokens == 1;
    order_front(ranked, alone ? 1 : (random_partner ? samples : 2 * samples));
    std::vector<int64_t> partners(samples);
    if (alone) {
      partners[0] = 0;
    } else if (random_partner) {
      sample_partners(ranked, samples, seed, partners);
    } else {
      for (int64_t j = 0; j < samples; ++j) partners[j] = ranked[samples + j].row;
    }
    for (int64_t j = 0; j < samples; ++j) {
      top[out + j] = first + ranked[j].row;
      partner[out + j] = first + partners[j];
      noise_top[out + j] = added[ranked[j].row];
      noise_partner[out + j] = added[partners[j]];
    }
  }

  // Samples uniformly without replacement from the rows after the first `samples`: those with the smallest random keys.
  static void sample_partners(const std::vector<Ranked<T>>& ranked, int64_t samples, uint64_t seed,
                              std::vector<int64_t>& partners) {
    std::vector<Ranked<uint64_t>> keyed(ranked.size() - samples);
    for (size_t i = 0; i < keyed.size(); ++i) {
      const int64_t row = ranked[samples + i].row;
      keyed[i] = {philox(seed, row, 0).second(), row};
    }
    order_front(keyed, samples);
    for (int64_t j = 0; j < samples; ++j) partners[j] = keyed[j].row;
  }
};

// Returns the offsets of each item's samples; samples(tokens) is the number of samples of an item.
template <typename Samples>
std::vector<int64_t> sample_offsets(const std::vector<int64_t>& offsets, Samples samples) {
  std::vector<int64_t> out(offsets.size(), 0);
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t tokens = offsets[b + 1] - offsets[b];
    out[b + 1] = out[b] + (tokens == 0 ? 0 : samples(tokens));
  }
  return out;
}

// Runs `item(b)` for every item, in parallel if there is enough work.
template <typename Item>
void for_each_item(const std::vector<int64_t>& offsets, int64_t work_per_token, Item item) {
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  const int64_t work = std::max<int64_t>(1, offsets.back() * work_per_token);
  const int64_t grain = std::max<int64_t>(1, items * tokens_per_task / work);
  at::parallel_for(0, items, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) item(b);
  });
}

void check_finite(const at::Tensor& score) {
  if (score.numel() == 0 || at::isfinite(score).all().item<bool>()) return;
  throw NonFiniteError("score must be finite, found NaN or infinity");
}

Quadruple sampled_pairs_cpu(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                            bool random_partner, const std::optional<at::Tensor>& seeds, int64_t samples) {
  check_sampling(score, k, ptr, seeds);
  const std::vector<int64_t> offsets = packed_offsets(ptr, score.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  TORCH_CHECK(seeds.has_value() || !(noise || random_partner), "seeds must be given for random samples");
  check_finite(score);
  const std::vector<int64_t> out = sample_offsets(offsets, [&](int64_t tokens) { return num_samples_of(tokens, k); });
  TORCH_CHECK(samples == out.back(), "samples must be ", out.back(), ", got ", samples);
  const auto index = score.options().dtype(at::kLong);
  const at::Tensor top = at::empty({samples}, index);
  const at::Tensor partner = at::empty({samples}, index);
  const at::Tensor added = at::empty({2, samples}, score.options());
  const at::Tensor values = score.contiguous();
  const at::Tensor item_seeds = seeds.has_value() ? seeds->contiguous() : at::zeros({items}, index);
  const int64_t* seed = item_seeds.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "sample_pairs", [&] {
    scalar_t* added_data = added.data_ptr<scalar_t>();
    const PairSampler<scalar_t> sampler{
        values.const_data_ptr<scalar_t>(), noise,      random_partner,      top.data_ptr<int64_t>(),
        partner.data_ptr<int64_t>(),       added_data, added_data + samples};
    for_each_item(offsets, 1, [&](int64_t b) {
      sampler.item(offsets[b], offsets[b + 1] - offsets[b], out[b + 1] - out[b], out[b],
                   static_cast<uint64_t>(seed[b]));
    });
  });
  return {top, partner, added, offsets_tensor(out)};
}

// Samples argmax_i(score_i + Gumbel), with one number of the random stream `stream` per row.
template <typename T>
std::pair<int64_t, T> gumbel_max(const T* score, int64_t tokens, uint64_t seed, uint64_t stream) {
  int64_t best = 0;
  T best_noise = 0;
  for (int64_t row = 0; row < tokens; ++row) {
    const T added = static_cast<T>(gumbel(philox(seed, row, stream).first()));
    if (row == 0 || score[row] + added > score[best] + best_noise) {
      best = row;
      best_noise = added;
    }
  }
  return {best, best_noise};
}

Quadruple sampled_pairs_with_replacement_cpu(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                             const at::Tensor& seeds, int64_t samples) {
  check_sampling(score, k, ptr, seeds);
  check_num_samples_with_replacement(k);
  const std::vector<int64_t> offsets = packed_offsets(ptr, score.size(0), "ptr");
  check_finite(score);
  const std::vector<int64_t> out = sample_offsets(offsets, [&](int64_t) { return k; });
  TORCH_CHECK(samples == out.back(), "samples must be ", out.back(), ", got ", samples);
  const auto index = score.options().dtype(at::kLong);
  const std::array<at::Tensor, 2> members = {at::empty({samples}, index), at::empty({samples}, index)};
  const at::Tensor added = at::empty({2, samples}, score.options());
  const at::Tensor values = score.contiguous();
  const at::Tensor item_seeds = seeds.contiguous();
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "sample_pairs_with_replacement", [&] {
    for_each_item(offsets, 2 * k, [&](int64_t b) {
      const uint64_t seed = static_cast<uint64_t>(item_seeds.const_data_ptr<int64_t>()[b]);
      const scalar_t* item = values.const_data_ptr<scalar_t>() + offsets[b];
      for (size_t member = 0; member < 2; ++member) {
        for (int64_t j = out[b]; j < out[b + 1]; ++j) {
          const auto [row, noise] = gumbel_max(item, offsets[b + 1] - offsets[b], seed, 1 + 2 * (j - out[b]) + member);
          members[member].data_ptr<int64_t>()[j] = offsets[b] + row;
          added.data_ptr<scalar_t>()[member * samples + j] = noise;
        }
      }
    });
  });
  return {members[0], members[1], added, offsets_tensor(out)};
}

// Holds contiguous, checked pairs: they may come from any caller, and their indices are used unchecked afterwards.
struct CheckedPairs {
  CheckedPairs(const at::Tensor& score, const at::Tensor& top_in, const at::Tensor& partner_in,
               const at::Tensor& noise_in) {
    check_score(score);
    const int64_t rows = score.size(0);
    TORCH_CHECK(top_in.dim() == 1 && top_in.sizes() == partner_in.sizes(), "top and partner must be [K], got shapes ",
                top_in.sizes(), " and ", partner_in.sizes());
    for (const auto& [name, index] : {std::pair{"top", &top_in}, std::pair{"partner", &partner_in}}) {
      TORCH_CHECK(index->scalar_type() == at::kLong, name, " must be int64, not ", index->scalar_type());
      const bool inside = index->numel() == 0 || ((*index >= 0).all() & (*index < rows).all()).item<bool>();
      TORCH_CHECK(inside, name, " must hold rows of score, 0 to ", rows - 1);
    }
    TORCH_CHECK(
        noise_in.sizes() == at::IntArrayRef({2, top_in.size(0)}) && noise_in.scalar_type() == score.scalar_type(),
        "noise must be [2, K] with the dtype of score, got ", noise_in.scalar_type(), " ", noise_in.sizes());
    top = top_in.contiguous();
    partner = partner_in.contiguous();
    noise = noise_in.contiguous();
  }
  // Calls use(j, top, partner, noise of the top, noise of the partner) for each sample j.
  template <typename T, class Use>
  void each(const Use& use) const {
    const int64_t* const a = top.const_data_ptr<int64_t>();
    const int64_t* const b = partner.const_data_ptr<int64_t>();
    const T* const added = noise.const_data_ptr<T>();
    for (int64_t j = 0, samples = top.size(0); j < samples; ++j) use(j, a[j], b[j], added[j], added[samples + j]);
  }

  at::Tensor top, partner, noise;
};

at::Tensor pair_weight_cpu(const at::Tensor& score, const at::Tensor& top, const at::Tensor& partner,
                           const at::Tensor& noise, double tau) {
  check_tau(tau);
  const CheckedPairs pairs(score, top, partner, noise);
  const at::Tensor values = score.contiguous();
  at::Tensor weight = at::empty({top.size(0)}, score.options());
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "pair_weight", [&] {
    const scalar_t* const z = values.const_data_ptr<scalar_t>();
    scalar_t* const to = weight.mutable_data_ptr<scalar_t>();
    pairs.each<scalar_t>([&](int64_t j, int64_t a, int64_t b, scalar_t noise_a, scalar_t noise_b) {
      const double difference = log_softplus(z[a] + noise_a) - log_softplus(z[b] + noise_b);
      to[j] = a == b ? scalar_t(1) : static_cast<scalar_t>(sigmoid(difference / tau));
    });
  });
  return weight;
}

at::Tensor pair_weight_backward_cpu(const at::Tensor& grad_weight, const at::Tensor& score, const at::Tensor& top,
                                    const at::Tensor& partner, const at::Tensor& noise, double tau) {
  check_tau(tau);
  const CheckedPairs pairs(score, top, partner, noise);
  TORCH_CHECK(grad_weight.sizes() == top.sizes() && grad_weight.scalar_type() == score.scalar_type(),
              "grad_weight must be [K] with the dtype of score, got ", grad_weight.scalar_type(), " ",
              grad_weight.sizes());
  const at::Tensor values = score.contiguous();
  const at::Tensor grad_output = grad_weight.contiguous();
  at::Tensor grad = at::zeros({score.size(0)}, score.options());
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "pair_weight_backward", [&] {
    const scalar_t* const z = values.const_data_ptr<scalar_t>();
    scalar_t* const to = grad.mutable_data_ptr<scalar_t>();
    pairs.each<scalar_t>([&](int64_t j, int64_t a, int64_t b, scalar_t noise_a, scalar_t noise_b) {
      if (a == b) return;
      const double za = z[a] + noise_a;
      const double zb = z[b] + noise_b;
      const double weight = sigmoid((log_softplus(za) - log_softplus(zb)) / tau);
      const double slope = grad_output.const_data_ptr<scalar_t>()[j] * weight * (1 - weight) / tau;
      to[a] += static_cast<scalar_t>(slope * log_softplus_slope(za));
      to[b] -= static_cast<scalar_t>(slope * log_softplus_slope(zb));
    });
  });
  return grad;
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_select_pairs", sampled_pairs_cpu);
  m.impl("_select_pairs_with_replacement", sampled_pairs_with_replacement_cpu);
  m.impl("_pair_weight", pair_weight_cpu);
  m.impl("_pair_weight_backward", pair_weight_backward_cpu);
}

}  // namespace geosft
