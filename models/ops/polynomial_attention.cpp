// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/define_gathered.h"
#include "models/ops/monomials.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_degree(int64_t degree, const c10::SymInt& channels) {
  TORCH_CHECK(degree >= 0, "degree must be at least 0, not ", degree);
  const int64_t c = channels.guard_int(__FILE__, __LINE__), count = monomial_count(c, degree);
  TORCH_CHECK(count <= kMaxMonomials, "degree ", degree, " has binomial(", c, " + ", degree, ", ", degree,
              ") = ", count, " monomials of ", c, " channels, more than the ", kMaxMonomials,
              " that are computed with: choose a smaller degree or narrower heads, or exact attention");
}

std::tuple<at::Tensor, at::Tensor> polynomial_forward_meta(const PolynomialArguments& a) {
  const auto computed = a.q.options().dtype(at::toOpMathType(a.q.scalar_type()));
  return {at::empty_symint({a.q.sym_size(0), a.q.sym_size(1), a.v.sym_size(2)}, a.q.options()),
          at::empty_symint({a.q.sym_size(0), a.q.sym_size(1)}, computed)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> polynomial_backward_meta(const at::Tensor& grad, const at::Tensor& out,
                                                                        const at::Tensor& denominator,
                                                                        const PolynomialArguments& a) {
  check_grad_output(grad, out, denominator, a.q, a.v);
  const auto like = [](const at::Tensor& tensor) { return at::empty_symint(tensor.sym_sizes(), tensor.options()); };
  return {like(a.q), like(a.k), like(a.v)};
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Polynomial : torch::autograd::Function<Polynomial> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const PolynomialArguments& a) {
    static const auto op = find_operator<PolynomialOperator::Forward>("_polynomial_attention_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, denominator] = a.apply([&](const auto&... all) { return op.call(all...); });
    const at::Tensor none;
    context->save_for_backward({out, denominator, q, k, v, a.q_ptr.value_or(none), a.k_ptr.value_or(none)});
    context->saved_data["degree"] = a.degree;
    context->saved_data["scale"] = a.scale;
    context->saved_data["causal"] = a.causal;
    context->saved_data["center"] = a.center;
    return forward_results(context, out, denominator);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    static const auto op = find_operator<PolynomialBackward>("_polynomial_attention_backward");
    const variable_list s = context->get_saved_variables();
    auto& numbers = context->saved_data;
    variable_list gradients = once_differentiable("polynomial_attention", {grads[0], s[2], s[3], s[4]}, [&] {
      const auto [q_grad, k_grad, v_grad] =
          op.call(grads[0], s[0], s[1], s[2], s[3], s[4], numbers["degree"].toInt(), numbers["scale"].toDouble(),
                  numbers["causal"].toBool(), if_defined(s[5]), if_defined(s[6]), numbers["center"].toBool());
      return variable_list{q_grad, k_grad, v_grad};
    });
    gradients.emplace_back();  // no gradients for the other arguments
    return gradients;
  }
};

std::tuple<at::Tensor, at::Tensor> differentiable_polynomial(const PolynomialArguments& a) {
  check_transforms("polynomial_attention", {a.q, a.k, a.v});
  const variable_list results = Polynomial::apply(a.q, a.k, a.v, a);
  return {results[0], results[1]};
}

}  // namespace

at::Tensor polynomial_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                double scale, bool causal, const Optional& q_ptr, const Optional& k_ptr, bool center) {
  static const auto op = find_operator<PolynomialOperator::Forward>("_polynomial_attention_forward");
  return std::get<0>(op.call(q, k, v, degree, scale, causal, q_ptr, k_ptr, center));
}

void PolynomialArguments::check() const {
  check_query_key_value(q, k, v);
  check_ptr_pair(q_ptr, "q_ptr", q, k_ptr, "k_ptr", k);
  check_degree(degree, q.sym_size(2));
  TORCH_CHECK(std::isfinite(scale), "scale must be finite, not ", scale);
  TORCH_CHECK(!(causal && center), "center must be false with causal: the mean of all keys would leak the future");
  if (causal) {
    TORCH_SYM_CHECK(q.sym_size(0).sym_eq(k.sym_size(0)), "causal needs as many rows in k as in q, ", q.sym_size(0),
                    ", not ", k.sym_size(0));
  }
}

GEOSFT_OPERATORS(m) {
  define_gathered<PolynomialOperator, polynomial_forward_meta, polynomial_backward_meta, differentiable_polynomial>(
      m, "polynomial_attention",
      "Tensor q, Tensor k, Tensor v, int degree, float scale, bool causal=False, Tensor? q_ptr=None, "
      "Tensor? k_ptr=None, bool center=False",
      "denominator", "(Tensor q_grad, Tensor k_grad, Tensor v_grad)", polynomial_attention);
}

}  // namespace geosft
