// SPDX-License-Identifier: Apache-2.0
#include "models/ops/maxout_attention.h"

#include <torch/library.h>

#include "models/ops/attention_checks.h"
#include "models/ops/dispatch.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_dense(const Optional& r, const char* name, const at::Tensor& q, const at::Tensor& k, bool one_item) {
  if (!given(r)) return;
  check_like(*r, name, q);
  TORCH_CHECK(r->dim() == 2, name, " must be [sum_b nq_b * nk_b, h], got shape ", r->sym_sizes());
  const c10::SymInt pairs = one_item ? q.sym_size(0) * k.sym_size(0) : r->sym_size(0);
  check_sizes(*r, name, {pairs, q.sym_size(1)}, "[sum_b nq_b * nk_b, h]");
}

std::tuple<at::Tensor, at::Tensor> forward_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                const at::Tensor& leak, const Optional& r_mul, const Optional& r_add,
                                                const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_maxout_attention(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps);
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), v.sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, q.options())};
}

at::Tensor meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                const Optional& r_mul, const Optional& r_add, const Optional& q_ptr, const Optional& k_ptr,
                double eps) {
  return std::get<0>(forward_meta(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward_meta(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor& q,
                                      const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                      const Optional& r_mul, const Optional& r_add, const Optional&, const Optional&,
                                      double) {
  return empty_gradients({q, k, v, leak, r_mul, r_add});
}

}  // namespace

at::Tensor maxout_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                            const Optional& r_mul, const Optional& r_add, const Optional& q_ptr, const Optional& k_ptr,
                            double eps) {
  static const auto op = find_operator<decltype(maxout_attention)>("maxout_attention");
  return op.call(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps);
}

void check_maxout_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                            const Optional& r_mul, const Optional& r_add, const Optional& q_ptr, const Optional& k_ptr,
                            double eps) {
  check_attention(q, k, v, leak, q_ptr, k_ptr, eps);
  check_dense(r_mul, "r_mul", q, k, !given(q_ptr));
  check_dense(r_add, "r_add", q, k, !given(q_ptr));
}

TORCH_LIBRARY_FRAGMENT(geosft, m) {
  m.def(
      "maxout_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor? r_mul=None, Tensor? r_add=None, "
      "Tensor? q_ptr=None, Tensor? k_ptr=None, float eps=1e-6) -> Tensor",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_maxout_attention_forward(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor? r_mul, Tensor? r_add, "
      "Tensor? q_ptr, Tensor? k_ptr, float eps) -> (Tensor out, Tensor denominator)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_maxout_attention_backward(Tensor grad, Tensor out, Tensor denominator, Tensor q, Tensor k, Tensor v, "
      "Tensor leak, Tensor? r_mul, Tensor? r_add, Tensor? q_ptr, Tensor? k_ptr, float eps) -> Tensor[]",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(geosft, Meta, m) {
  m.impl("maxout_attention", meta);
  m.impl("_maxout_attention_forward", forward_meta);
  m.impl("_maxout_attention_backward", backward_meta);
}

}  // namespace geosft
