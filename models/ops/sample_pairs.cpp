// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using Quadruple = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Quadruple sampled_meta(const at::Tensor& score, const std::optional<at::Tensor>& ptr, const c10::SymInt& samples) {
  TORCH_SYM_CHECK(samples.sym_ge(0), "samples must not be negative, got ", samples);
  const auto index = score.options().dtype(at::kLong);
  return {at::empty_symint({samples}, index), at::empty_symint({samples}, index),
          at::empty_symint({2, samples}, score.options()),
          at::empty_symint({item_count(ptr) + 1}, given(ptr) ? ptr->options() : index)};
}

Quadruple sampled_pairs_meta(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool /*noise*/,
                             bool /*random_partner*/, const std::optional<at::Tensor>& seeds, c10::SymInt samples) {
  check_sampling(score, k, ptr, seeds);
  return sampled_meta(score, ptr, samples);
}

Quadruple sampled_pairs_with_replacement_meta(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                              const at::Tensor& seeds, c10::SymInt samples) {
  check_sampling(score, k, ptr, seeds);
  return sampled_meta(score, ptr, samples);
}

at::Tensor pair_weight_meta(const at::Tensor& score, const at::Tensor& top, const at::Tensor&, const at::Tensor&,
                            double tau) {
  check_score(score);
  check_tau(tau);
  return at::empty_symint(top.sym_sizes(), score.options());
}

at::Tensor pair_weight_backward_meta(const at::Tensor&, const at::Tensor& score, const at::Tensor&, const at::Tensor&,
                                     const at::Tensor&, double tau) {
  check_score(score);
  check_tau(tau);
  return at::empty_symint(score.sym_sizes(), score.options());
}

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor call_pair_weight(const at::Tensor& score, const SampledPairs& pairs, double tau) {
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
  static const auto op = find_operator<Signature>("_pair_weight");
  return op.call(score, pairs.top, pairs.partner, pairs.noise, tau);
}

at::Tensor call_pair_weight_backward(const at::Tensor& grad, const at::Tensor& score, const SampledPairs& pairs,
                                     double tau) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
  static const auto op = find_operator<Signature>("_pair_weight_backward");
  return op.call(grad, score, pairs.top, pairs.partner, pairs.noise, tau);
}

class PairWeight : public torch::autograd::Function<PairWeight> {
 public:
  static Variable forward(AutogradContext* context, const Variable& score, const SampledPairs& pairs, double tau) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({score, pairs.top, pairs.partner, pairs.noise});
    context->saved_data["tau"] = tau;
    return call_pair_weight(score, pairs, tau);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const SampledPairs pairs{saved[1], saved[2], saved[3], {}};
    const double tau = context->saved_data["tau"].toDouble();
    variable_list gradients = once_differentiable("sample_pairs", {grads[0], saved[0]}, [&] {
      return variable_list{call_pair_weight_backward(grads[0], saved[0], pairs, tau)};
    });
    gradients.resize(3);  // no gradients for pairs and tau
    return gradients;
  }
};

at::Tensor differentiable_pair_weight(const at::Tensor& score, const at::Tensor& top, const at::Tensor& partner,
                                      const at::Tensor& noise, double tau) {
  check_score(score);  // apply() requires defined tensors
  check_transforms("sample_pairs", {score});
  return PairWeight::apply(score, SampledPairs{top, partner, noise, {}}, tau);
}

Quadruple sample_with_seeds(const at::Tensor& score_in, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                            bool random_partner, double tau, const std::optional<at::Tensor>& seeds) {
  const at::ScalarType type = score_in.scalar_type();
  const at::Tensor score = type == at::kHalf || type == at::kBFloat16 ? score_in.to(at::kFloat) : score_in;
  check_sampling(score, k, ptr, seeds);
  check_tau(tau);
  const SampledPairs pairs = select_pairs(score, k, ptr, noise, random_partner, seeds);
  return {pairs.top, pairs.partner, pair_weight(score, pairs, tau).to(type), pairs.sample_ptr};
}

// Returns the seeds of a random call: those given, or new ones.
std::optional<at::Tensor> seeds_for(const at::Tensor& score, const std::optional<at::Tensor>& ptr,
                                    const std::optional<at::Generator>& generator,
                                    const std::optional<at::Tensor>& seeds) {
  if (seeds.has_value()) return seeds;
  check_ptr(ptr, "ptr", score);
  check_random_in_vmap("sample_pairs");
  return copy_to_device(sample_seeds(item_count(ptr), generator), score.device());
}

Quadruple sample_pairs_any(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                           bool random_partner, double tau, const std::optional<at::Generator>& generator,
                           const std::optional<at::Tensor>& seeds) {
  return sample_with_seeds(score, k, ptr, noise, random_partner, tau,
                           noise || random_partner ? seeds_for(score, ptr, generator, seeds) : seeds);
}

// torch.func.vmap would call sample_pairs for one row after another, each with seeds of its own, whatever randomness it
// was asked for. Seeds that are sampled first obey it; the rest is called row by row.
Quadruple sample_pairs_in_vmap(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                               bool random_partner, double tau, const std::optional<at::Generator>& generator,
                               const std::optional<at::Tensor>& seeds) {
  using Signature = Quadruple(const at::Tensor&, int64_t, const std::optional<at::Tensor>&, bool, bool, double,
                              const std::optional<at::Tensor>&);
  static const auto op = find_operator<Signature>("_sample_pairs_with_seeds");
  return op.call(score, k, ptr, noise, random_partner, tau,
                 noise || random_partner ? seeds_for(score, ptr, generator, seeds) : seeds);
}

}  // namespace

GEOSFT_OPERATORS(m) {
  m.def(
      "sample_pairs(Tensor score, int k, Tensor? ptr=None, bool noise=False, bool random_partner=False, float tau=1.0, "
      "Generator? generator=None, Tensor? seeds=None) -> (Tensor top, Tensor partner, Tensor weight, Tensor "
      "sample_ptr)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_sample_pairs_with_seeds(Tensor score, int k, Tensor? ptr, bool noise, bool random_partner, float tau, Tensor? "
      "seeds) -> (Tensor top, Tensor partner, Tensor weight, Tensor sample_ptr)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_select_pairs(Tensor score, int k, Tensor? ptr, bool noise, bool random_partner, Tensor? seeds, SymInt samples) "
      "-> "
      "(Tensor top, Tensor partner, Tensor noise, Tensor sample_ptr)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_select_pairs_with_replacement(Tensor score, int k, Tensor? ptr, Tensor seeds, SymInt samples) -> "
      "(Tensor top, Tensor partner, Tensor noise, Tensor sample_ptr)",
      {at::Tag::pt2_compliant_tag});
  m.def("_pair_weight(Tensor score, Tensor top, Tensor partner, Tensor noise, float tau) -> Tensor",
        {at::Tag::pt2_compliant_tag});
  m.def(
      "_pair_weight_backward(Tensor grad_weight, Tensor score, Tensor top, Tensor partner, Tensor noise, float tau) -> "
      "Tensor",
      {at::Tag::pt2_compliant_tag});
}

GEOSFT_KERNELS(Meta, m) {
  m.impl("_select_pairs", sampled_pairs_meta);
  m.impl("_select_pairs_with_replacement", sampled_pairs_with_replacement_meta);
  m.impl("_pair_weight", pair_weight_meta);
  m.impl("_pair_weight_backward", pair_weight_backward_meta);
}

void check_score(const at::Tensor& score) {
  TORCH_CHECK(score.dim() == 1, "score must have one dimension [N], got shape ", score.sym_sizes());
  TORCH_CHECK(score.scalar_type() == at::kFloat || score.scalar_type() == at::kDouble,
              "score must be float32, float64, float16 or bfloat16, not ", score.scalar_type());
}

void check_num_samples(int64_t k) {
  TORCH_CHECK(k >= 1, "k must be at least 1, got ", k);
}

void check_num_samples_with_replacement(int64_t k) {
  TORCH_CHECK(k <= max_samples_with_replacement, "k must be at most ", max_samples_with_replacement,
              " with replacement, got ", k);
}

void check_tau(double tau) {
  TORCH_CHECK(std::isfinite(tau) && tau > 0, "tau must be finite and above 0, got ", tau);
}

void check_seeds(const std::optional<at::Tensor>& seeds, const std::optional<at::Tensor>& ptr, at::Device device) {
  if (!seeds.has_value()) return;
  const c10::SymInt items = item_count(ptr);
  TORCH_CHECK(seeds->scalar_type() == at::kLong, "seeds must be int64, not ", seeds->scalar_type());
  TORCH_CHECK(seeds->device() == device, "seeds must be on the device of score, ", device, ", not ", seeds->device());
  TORCH_CHECK(seeds->dim() == 1, "seeds must have one entry an item [", items, "], got shape ", seeds->sym_sizes());
  TORCH_SYM_CHECK(seeds->sym_size(0).sym_eq(items), "seeds must have one entry an item [", items, "], got shape ",
                  seeds->sym_sizes());
}

void check_sampling(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                    const std::optional<at::Tensor>& seeds) {
  check_score(score);
  check_num_samples(k);
  check_ptr(ptr, "ptr", score);
  check_seeds(seeds, ptr, score.device());
}

at::Tensor sample_seeds(const c10::SymInt& items, const std::optional<at::Generator>& generator) {
  // With a device: a traced call is run again by its device (torch.utils.checkpoint under torch.compile).
  return at::randint_symint(0, std::numeric_limits<int64_t>::max(), {items}, generator,
                            at::TensorOptions().dtype(at::kLong).device(at::kCPU));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> sample_pairs(const at::Tensor& score, int64_t k,
                                                                        const std::optional<at::Tensor>& ptr,
                                                                        bool noise, bool random_partner, double tau,
                                                                        const std::optional<at::Generator>& generator,
                                                                        const std::optional<at::Tensor>& seeds) {
  static const auto op = find_operator<decltype(sample_pairs)>("sample_pairs");
  return op.call(score, k, ptr, noise, random_partner, tau, generator, seeds);
}

// The number of samples is an argument of the inner operators, computed from ptr by tensor operations: if ptr has no
// values, because the call is being traced, it is a symbol instead of a number.
SampledPairs select_pairs(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                          bool random_partner, const std::optional<at::Tensor>& seeds) {
  using Signature = Quadruple(const at::Tensor&, int64_t, const std::optional<at::Tensor>&, bool, bool,
                              const std::optional<at::Tensor>&, c10::SymInt);
  static const auto op = find_operator<Signature>("_select_pairs");
  check_sampling(score, k, ptr, seeds);
  c10::SymInt samples = (score.sym_size(0) / 2).min(k).max(score.sym_size(0).min(1));
  if (given(ptr)) {
    const at::Tensor tokens = ptr->diff();
    samples = at::maximum(tokens.floor_divide(2).clamp_max(k), tokens.clamp_max(1)).sum().item().toSymInt();
  }
  auto [top, partner, added, sample_ptr] = op.call(score.detach(), k, ptr, noise, random_partner, seeds, samples);
  return {top, partner, added, sample_ptr};
}

SampledPairs select_pairs_with_replacement(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                           const at::Tensor& seeds) {
  using Signature =
      Quadruple(const at::Tensor&, int64_t, const std::optional<at::Tensor>&, const at::Tensor&, c10::SymInt);
  static const auto op = find_operator<Signature>("_select_pairs_with_replacement");
  check_sampling(score, k, ptr, seeds);
  check_num_samples_with_replacement(k);
  const c10::SymInt items =
      given(ptr) ? ptr->diff().clamp_max(1).sum().item().toSymInt() : score.sym_size(0).min(1);  // non-empty items
  auto [top, partner, added, sample_ptr] = op.call(score.detach(), k, ptr, seeds, items * k);
  return {top, partner, added, sample_ptr};
}

at::Tensor pair_weight(const at::Tensor& score, const SampledPairs& pairs, double tau) {
  return call_pair_weight(score, pairs, tau);
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("sample_pairs", sample_pairs_any);
  m.impl("_sample_pairs_with_seeds", sample_with_seeds);
}

GEOSFT_KERNELS(FuncTorchVmapMode, m) {
  m.impl("sample_pairs", sample_pairs_in_vmap);
}

GEOSFT_KERNELS(Autograd, m) {
  m.impl("_pair_weight", differentiable_pair_weight);
}

}  // namespace geosft
