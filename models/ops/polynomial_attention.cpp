// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_attention.h"

#include <ATen/OpMathType.h>

#include <cmath>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/attention_checks.h"
#include "models/ops/monomials.h"
#include "models/ops/polynomial_attention_checks.h"

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

std::tuple<at::Tensor, at::Tensor> forward_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                int64_t degree, double scale, bool causal, const Optional& q_ptr,
                                                const Optional& k_ptr, bool center) {
  PolynomialArguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center}.check();
  const auto computed = q.options().dtype(at::toOpMathType(q.scalar_type()));
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), v.sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, computed)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_meta(const at::Tensor& grad, const at::Tensor& out,
                                                             const at::Tensor& denominator, const at::Tensor& q,
                                                             const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                                             double scale, bool causal, const Optional& q_ptr,
                                                             const Optional& k_ptr, bool center) {
  PolynomialArguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center}.check();
  check_grad_output(grad, out, denominator, q, v);
  const auto like = [](const at::Tensor& tensor) { return at::empty_symint(tensor.sym_sizes(), tensor.options()); };
  return {like(q), like(k), like(v)};
}

}  // namespace

at::Tensor polynomial_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                double scale, bool causal, const Optional& q_ptr, const Optional& k_ptr, bool center) {
  static const auto op = find_operator<PolynomialForward>("_polynomial_attention_forward");
  return std::get<0>(op.call(q, k, v, degree, scale, causal, q_ptr, k_ptr, center));
}

void PolynomialArguments::check() const {
  check_query_key_value(q, k, v);
  check_ptr_pair(q_ptr, "q_ptr", k_ptr, "k_ptr", q.device());
  check_degree(degree, q.sym_size(2));
  TORCH_CHECK(std::isfinite(scale), "scale must be finite, not ", scale);
  TORCH_CHECK(!(causal && center), "center must be false with causal: the mean of all keys would leak the future");
  if (causal) {
    TORCH_SYM_CHECK(q.sym_size(0).sym_eq(k.sym_size(0)), "causal needs as many rows in k as in q, ", q.sym_size(0),
                    ", not ", k.sym_size(0));
  }
}

GEOSFT_OPERATORS(m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  m.def(
      "polynomial_attention(Tensor q, Tensor k, Tensor v, int degree, float scale, bool causal=False, "
      "Tensor? q_ptr=None, Tensor? k_ptr=None, bool center=False) -> Tensor",
      tags);
  m.def(
      "_polynomial_attention_forward(Tensor q, Tensor k, Tensor v, int degree, float scale, bool causal, "
      "Tensor? q_ptr, Tensor? k_ptr, bool center) -> (Tensor out, Tensor denominator)",
      tags);
  m.def(
      "_polynomial_attention_backward(Tensor grad, Tensor out, Tensor denominator, Tensor q, Tensor k, Tensor v, "
      "int degree, float scale, bool causal, Tensor? q_ptr, Tensor? k_ptr, bool center) -> "
      "(Tensor q_grad, Tensor k_grad, Tensor v_grad)",
      tags);
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("polynomial_attention", polynomial_attention);
}

GEOSFT_KERNELS(Meta, m) {
  m.impl("_polynomial_attention_forward", forward_meta);
  m.impl("_polynomial_attention_backward", backward_meta);
}

}  // namespace geosft
