// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sample_pairs.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cmath>
#include <limits>

#include "models/ops/sample_pairs_checks.h"

namespace geosft {

TORCH_LIBRARY_FRAGMENT(geosft, m) {
  m.def(
      "sample_pairs(Tensor score, int k, Tensor? ptr=None, bool noise=False, bool random_partner=False, float tau=1.0, "
      "Generator? generator=None, Tensor? seeds=None) -> (Tensor top, Tensor partner, Tensor weight, Tensor "
      "sample_ptr)");
  m.def(
      "_draw_pairs(Tensor score, int k, Tensor? ptr, bool noise, bool random_partner, Tensor? seeds) -> "
      "(Tensor top, Tensor partner, Tensor noise, Tensor sample_ptr)");
  m.def(
      "_draw_pairs_with_replacement(Tensor score, int k, Tensor? ptr, Tensor seeds) -> "
      "(Tensor top, Tensor partner, Tensor noise, Tensor sample_ptr)");
  m.def("_pair_weight(Tensor score, Tensor top, Tensor partner, Tensor noise, float tau) -> Tensor");
  m.def(
      "_pair_weight_backward(Tensor grad_weight, Tensor score, Tensor top, Tensor partner, Tensor noise, float tau) -> "
      "Tensor");
}

void check_score(const at::Tensor& score) {
  TORCH_CHECK(score.dim() == 1, "score must have one dimension [N], got shape ", score.sizes());
  TORCH_CHECK(score.scalar_type() == at::kFloat || score.scalar_type() == at::kDouble,
              "score must be float32 or float64, not ", score.scalar_type());
}

void check_bins(int64_t k) {
  TORCH_CHECK(k >= 1, "k must be at least 1, got ", k);
}

void check_tau(double tau) {
  TORCH_CHECK(std::isfinite(tau) && tau > 0, "tau must be finite and above 0, got ", tau);
}

void check_seeds(const std::optional<at::Tensor>& seeds, int64_t items) {
  if (!seeds.has_value()) return;
  TORCH_CHECK(seeds->scalar_type() == at::kLong, "seeds must be int64, not ", seeds->scalar_type());
  TORCH_CHECK(seeds->dim() == 1 && seeds->size(0) == items, "seeds must have one entry an item [", items,
              "], got shape ", seeds->sizes());
}

int64_t item_count(const std::optional<at::Tensor>& ptr) {
  if (!ptr.has_value()) return 1;
  TORCH_CHECK(ptr->dim() == 1 && ptr->size(0) >= 2, "ptr must have one dimension and at least 2 entries, got shape ",
              ptr->sizes());
  return ptr->size(0) - 1;
}

at::Tensor draw_seeds(int64_t items, const std::optional<at::Generator>& generator) {
  return at::randint(0, std::numeric_limits<int64_t>::max(), {items}, generator, at::TensorOptions().dtype(at::kLong));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> sample_pairs(const at::Tensor& score, int64_t k,
                                                                        const std::optional<at::Tensor>& ptr,
                                                                        bool noise, bool random_partner, double tau,
                                                                        const std::optional<at::Generator>& generator,
                                                                        const std::optional<at::Tensor>& seeds) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("geosft::sample_pairs", "").typed<decltype(sample_pairs)>();
  return op.call(score, k, ptr, noise, random_partner, tau, generator, seeds);
}

DrawnPairs draw_pairs(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr, bool noise,
                      bool random_partner, const std::optional<at::Tensor>& seeds) {
  using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
      const at::Tensor&, int64_t, const std::optional<at::Tensor>&, bool, bool, const std::optional<at::Tensor>&);
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("geosft::_draw_pairs", "").typed<Signature>();
  auto [top, partner, added, sample_ptr] = op.call(score.detach(), k, ptr, noise, random_partner, seeds);
  return {top, partner, added, sample_ptr};
}

DrawnPairs draw_pairs_with_replacement(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                                       const at::Tensor& seeds) {
  using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
      const at::Tensor&, int64_t, const std::optional<at::Tensor>&, const at::Tensor&);
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("geosft::_draw_pairs_with_replacement", "").typed<Signature>();
  auto [top, partner, added, sample_ptr] = op.call(score.detach(), k, ptr, seeds);
  return {top, partner, added, sample_ptr};
}

}  // namespace geosft
