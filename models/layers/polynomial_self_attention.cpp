// SPDX-License-Identifier: Apache-2.0
#include "models/layers/polynomial_self_attention.h"

#include <cmath>
#include <limits>

#include "geometry/packed.h"
#include "models/ops/monomials.h"

namespace geosft {
namespace {

// Returns the attention of queries `first` … to all keys of their item, [count, N, h].
at::Tensor weights_of(const at::Tensor& q, const at::Tensor& k, const PolynomialDegree& chosen, double scale,
                      bool causal, int64_t first) {
  at::Tensor logits = at::einsum("ihc,jhc->ijh", {q, k}) * scale;
  const at::Tensor place = at::arange(k.size(0), q.options().dtype(at::kLong));
  at::Tensor later = at::zeros({1, 1, 1}, place.options().dtype(at::kBool));
  if (causal) later = (place.unsqueeze(0) > place.narrow(0, first, q.size(0)).unsqueeze(1)).unsqueeze(-1);
  if (chosen.exact) return logits.masked_fill(later, -std::numeric_limits<double>::infinity()).softmax(1);
  at::Tensor weights = at::ones_like(logits);
  for (int64_t t = chosen.degree; t >= 1; --t) weights = 1 + weights * logits / t;
  weights = weights.masked_fill(later, 0);
  return weights / weights.sum(1, true);
}

at::Tensor exact_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale, bool causal,
                           const std::optional<at::Tensor>& ptr) {
  const std::vector<int64_t> offsets = packed_offsets(ptr, q.size(0), "ptr");
  std::vector<at::Tensor> items;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const auto heads_first = [&](const at::Tensor& rows) {
      return rows.slice(0, offsets[b], offsets[b + 1]).transpose(0, 1).unsqueeze(0);
    };
    if (offsets[b] == offsets[b + 1]) continue;
    items.push_back(
        at::scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v), {}, 0.0, causal, scale)
            .squeeze(0)
            .transpose(0, 1));
  }
  return items.empty() ? at::zeros_like(v) : at::cat(items, 0);
}

}  // namespace

PolynomialSelfAttentionImpl::PolynomialSelfAttentionImpl(int64_t width, int64_t head_count,
                                                         const PolynomialOptions& attention_options)
    : heads(head_count), options(attention_options) {
  TORCH_CHECK(heads >= 1 && width % heads == 0, "heads must divide width ", width, ", got ", heads);
  TORCH_CHECK(options.degree >= 0, "degree must be at least 0, got ", options.degree);
  TORCH_CHECK(options.tolerance >= 0, "tolerance must be at least 0, got ", options.tolerance);
  query = register_module("query", torch::nn::Linear(width, width));
  key = register_module("key", torch::nn::Linear(width, width));
  value = register_module("value", torch::nn::Linear(width, width));
  output = register_module("output", torch::nn::Linear(width, width));
}

double PolynomialSelfAttentionImpl::scale() const {
  const double channels = static_cast<double>(query->options.out_features()) / static_cast<double>(heads);
  return 1.0 / (options.score_scale == ScoreScale::inverse ? channels : std::sqrt(channels));
}

PolynomialDegree PolynomialSelfAttentionImpl::choose(const at::Tensor& q, const at::Tensor& k,
                                                     const std::optional<at::Tensor>& ptr) const {
  const double bound = polynomial_score_bound(q, k, scale(), ptr, ptr, center()).max().item<double>();
  if (options.tolerance > 0) {
    return choose_polynomial_degree(bound, q.size(2),
                                    {options.tolerance, options.max_monomials, options.or_exact, q.scalar_type()});
  }
  return {false, options.degree, monomial_count(q.size(2), options.degree), bound,
          polynomial_error_bound(bound, options.degree, q.size(2), q.scalar_type())};
}

PolynomialDegree PolynomialSelfAttentionImpl::degree_for(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  return choose(split(query->forward(x)), split(key->forward(x)), ptr);
}

at::Tensor PolynomialSelfAttentionImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == query->options.in_features(), "x must have shape [N, ",
              query->options.in_features(), "], got ", x.sizes());
  const at::Tensor q = split(query->forward(x)), k = split(key->forward(x)), v = split(value->forward(x));
  PolynomialDegree chosen{false, options.degree, 0, 0, 0};
  if (options.tolerance > 0 || !is_training()) {
    chosen = choose(q, k, ptr);
    if (!worst || chosen.bound > worst->bound) worst = chosen;
  }
  const at::Tensor mixed =
      chosen.exact ? exact_attention(q, k, v, scale(), options.causal, ptr)
                   : polynomial_attention(q, k, v, chosen.degree, scale(), options.causal, ptr, ptr, center());
  return output->forward(mixed.reshape(x.sizes()));
}

AttentionTrace PolynomialSelfAttentionImpl::trace(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  const at::Tensor q = split(query->forward(x)), keys = split(key->forward(x));
  const PolynomialDegree chosen = choose(q, keys, ptr);
  const at::Tensor k = center() ? keys - keys.mean(0, true) : keys;
  AttentionTrace found{ptr ? ptr->size(0) - 1 : 1, x.size(0), heads, {}, x.size(0) * heads, {}, {}};
  found.rows = [q, k, chosen, scale = scale(), causal = options.causal](int64_t first, int64_t count) {
    return weights_of(q.narrow(0, first, count), k, chosen, scale, causal, first);
  };
  return found;
}

std::vector<PolynomialDegree> worst_degrees(const torch::nn::Module& module) {
  std::vector<PolynomialDegree> degrees;
  for (const auto& part : module.modules(/*include_self=*/false)) {
    const auto* const attention = part->as<PolynomialSelfAttentionImpl>();
    if (attention != nullptr && attention->worst) degrees.push_back(*attention->worst);
  }
  return degrees;
}

}  // namespace geosft
