// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/define_gathered.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_beta(const Optional& beta, const at::Tensor& q) {
  if (!given(beta)) return;
  check_like(*beta, "beta", q);
  TORCH_CHECK(beta->dim() <= 1, "beta must be [] or [h], got shape ", beta->sym_sizes());
  if (beta->dim() == 1) check_sizes(*beta, "beta", {q.sym_size(1)}, "[] or [h]");
}

void check_pool(at::OptionalIntArrayRef pool, const at::Tensor& q) {
  if (!pool.has_value()) return;
  TORCH_SYM_CHECK(q.sym_size(1).sym_eq(static_cast<int64_t>(pool->size())), "pool must have a factor a head, ",
                  q.sym_size(1), ", got ", pool->size(), " factors");
  for (const int64_t factor : *pool) TORCH_CHECK(factor >= 1, "pool must have factors of at least 1, got ", *pool);
}

bool one_factor(at::OptionalIntArrayRef pool) {
  if (!pool.has_value()) return true;
  return std::all_of(pool->begin(), pool->end(), [&](int64_t factor) { return factor == pool->front(); });
}

void check_mask(const PrimalArguments& a) {
  TORCH_CHECK(given(a.mask_rowptr) == given(a.mask_col), "mask_rowptr and mask_col must be given both or neither");
  if (!given(a.mask_rowptr)) return;
  TORCH_CHECK(!a.linear(), "mask_rowptr must be absent with kernel linear: a sum of features has no mask");
  check_index(*a.mask_rowptr, "mask_rowptr", a.q);
  check_index(*a.mask_col, "mask_col", a.q);
  const c10::SymInt entries = a.mask_rowptr->sym_size(0), queries = a.q.sym_size(0), heads = a.q.sym_size(1);
  TORCH_SYM_CHECK(entries.sym_eq(queries + 1).sym_or(entries.sym_eq(heads * queries + 1)),
                  "mask_rowptr must have Nq + 1 or h Nq + 1 entries with Nq = ", queries, " and h = ", heads, ", got ",
                  entries);
  if (one_factor(a.pool)) return;
  TORCH_SYM_CHECK(entries.sym_eq(heads * queries + 1),
                  "mask_rowptr must have h Nq + 1 entries where the factors of pool differ, got ", entries);
}

std::tuple<at::Tensor, at::Tensor> primal_forward_meta(const PrimalArguments& a) {
  const auto computed = a.q.options().dtype(at::toOpMathType(a.q.scalar_type()));
  return {at::empty_symint({a.q.sym_size(0), a.q.sym_size(1), a.v.sym_size(2)}, computed),
          at::empty_symint({a.q.sym_size(0), a.q.sym_size(1)}, computed)};
}

std::vector<at::Tensor> primal_backward_meta(const at::Tensor& grad, const at::Tensor& out,
                                             const at::Tensor& normalizer, const PrimalArguments& a) {
  a.check_grad_output(grad, out, normalizer);
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& input : {a.q, a.k, a.v, a.beta.value_or(at::Tensor())}) {
    if (input.defined()) gradients.push_back(at::empty_symint(input.sym_sizes(), input.options()));
  }
  return gradients;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Primal : torch::autograd::Function<Primal> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const std::optional<at::Tensor>& beta, const PrimalArguments& a) {
    static const auto op = find_operator<PrimalOperator::Forward>("_primal_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, normalizer] = a.apply([&](const auto&... all) { return op.call(all...); });
    variable_list saved{out, normalizer, q, k, v};
    for (const auto* optional : {&beta, &a.q_ptr, &a.k_ptr, &a.mask_rowptr, &a.mask_col}) {
      saved.push_back(optional->value_or(at::Tensor()));
    }
    context->save_for_backward(std::move(saved));
    context->saved_data["pool"] = a.pool.has_value() ? c10::IValue(*a.pool) : c10::IValue();
    context->saved_data["kernel"] = std::string(a.kernel);
    context->saved_data["eps"] = a.eps;
    context->saved_data["scale"] = a.scale;
    return forward_results(context, out, normalizer);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(5);
    static const auto op = find_operator<PrimalBackward>("_primal_attention_backward");
    const variable_list s = context->get_saved_variables();
    auto& numbers = context->saved_data;
    const std::vector<int64_t> pool = numbers["pool"].isNone() ? std::vector<int64_t>() : numbers["pool"].toIntVector();
    variable_list gradients = once_differentiable("primal_attention", {grads[0], s[2], s[3], s[4], s[5]}, [&] {
      return op.call(grads[0], s[0], s[1], s[2], s[3], s[4], if_defined(s[5]),
                     pool.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(pool),
                     numbers["kernel"].toStringView(), numbers["eps"].toDouble(), if_defined(s[6]), if_defined(s[7]),
                     if_defined(s[8]), if_defined(s[9]), numbers["scale"].toOptional<double>());
    });
    gradients.resize(5);  // none for an absent beta, and for the other arguments
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_primal(const PrimalArguments& a) {
  check_transforms("primal_attention", {a.q, a.k, a.v, a.beta.value_or(at::Tensor())});
  const variable_list results = Primal::apply(a.q, a.k, a.v, a.beta, a);
  return {results[0], results[1]};
}

}  // namespace

at::Tensor primal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Optional& beta,
                            at::OptionalIntArrayRef pool, std::string_view kernel, double eps, const Optional& q_ptr,
                            const Optional& k_ptr, const Optional& mask_rowptr, const Optional& mask_col,
                            std::optional<double> scale) {
  static const auto op = find_operator<PrimalOperator::Forward>("_primal_attention_forward");
  return std::get<0>(op.call(q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale))
      .to(q.scalar_type());
}

void PrimalArguments::check() const {
  check_query_key_value(q, k, v);
  check_beta(beta, q);
  check_pool(pool, q);
  TORCH_CHECK(kernel == "softmax" || kernel == "linear", "kernel must be softmax or linear, not ", kernel);
  TORCH_CHECK(std::isfinite(eps) && eps >= 0, "eps must be finite and at least 0, not ", eps);
  TORCH_CHECK(!scale.has_value() || !linear(), "scale must be absent with kernel linear, which has none");
  TORCH_CHECK(!scale.has_value() || std::isfinite(*scale), "scale must be finite, not ", *scale);
  check_ptr_pair(q_ptr, "q_ptr", q, k_ptr, "k_ptr", k);
  check_mask(*this);
}

void PrimalArguments::check_grad_output(const at::Tensor& grad, const at::Tensor& out,
                                        const at::Tensor& normalizer) const {
  const c10::SymInt queries = q.sym_size(0), heads = q.sym_size(1), width = v.sym_size(2);
  check_sizes(grad, "grad", {queries, heads, width}, "[Nq, h, cv]");
  check_sizes(out, "out", {queries, heads, width}, "[Nq, h, cv]");
  check_sizes(normalizer, "normalizer", {queries, heads}, "[Nq, h]");
  const at::ScalarType computed = at::toOpMathType(q.scalar_type());
  for (const auto& [tensor, name] :
       {std::pair(grad, "grad"), std::pair(out, "out"), std::pair(normalizer, "normalizer")}) {
    TORCH_CHECK(tensor.scalar_type() == computed, name, " must be ", computed, ", not ", tensor.scalar_type());
  }
}

double PrimalArguments::logit_scale() const {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(2))));
}

GEOSFT_OPERATORS(m) {
  define_gathered<PrimalOperator, primal_forward_meta, primal_backward_meta, differentiable_primal>(
      m, "primal_attention",
      "Tensor q, Tensor k, Tensor v, Tensor? beta=None, int[]? pool=None, str kernel=\"softmax\", float eps=1e-6, "
      "Tensor? q_ptr=None, Tensor? k_ptr=None, Tensor? mask_rowptr=None, Tensor? mask_col=None, float? scale=None",
      "normalizer", "Tensor[]", primal_attention);
}

}  // namespace geosft
