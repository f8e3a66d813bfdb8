// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sequence_attention.h"

#include <torch/library.h>

#include "models/ops/attention_checks.h"
#include "models/ops/dispatch.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

std::tuple<at::Tensor, at::Tensor> forward_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                const at::Tensor& leak, const at::Tensor& s, const at::Tensor& ss,
                                                const at::Tensor& w_mul, const at::Tensor& b_mul,
                                                const at::Tensor& w_add, const at::Tensor& b_add, const Optional& q_ptr,
                                                const Optional& k_ptr, double eps) {
  check_sequence_attention(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), v.sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, q.options())};
}

at::Tensor meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul, const at::Tensor& b_mul,
                const at::Tensor& w_add, const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr,
                double eps) {
  return std::get<0>(forward_meta(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward_meta(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                      const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& leak, const at::Tensor& s, const at::Tensor& ss,
                                      const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                      const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr,
                                      double eps) {
  check_sequence_attention(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  check_upstream(grad, out, denominator, q, v);
  return empty_gradients({q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add});
}

}  // namespace

at::Tensor sequence_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                              const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                              const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                              const Optional& q_ptr, const Optional& k_ptr, double eps) {
  static const auto op = find_operator<decltype(sequence_attention)>("sequence_attention");
  return op.call(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
}

void check_sequence_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                              const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                              const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                              const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_attention(q, k, v, leak, q_ptr, k_ptr, eps);
  check_like(s, "s", q);
  check_like(ss, "ss", q);
  TORCH_CHECK(s.dim() == 2, "s must be [Nq, ds], got shape ", s.sym_sizes());
  TORCH_SYM_CHECK(s.sym_size(1).sym_ge(1), "s must have at least one channel, got shape ", s.sym_sizes());
  check_sizes(s, "s", {q.sym_size(0), s.sym_size(1)}, "[Nq, ds]");
  check_sizes(ss, "ss", {k.sym_size(0), s.sym_size(1)}, "[Nk, ds]");
  check_relative_weights(q, s.sym_size(1), w_mul, b_mul, w_add, b_add);
}

TORCH_LIBRARY_FRAGMENT(geosft, m) {
  m.def(
      "sequence_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor s, Tensor ss, Tensor w_mul, "
      "Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, float eps=1e-6) -> "
      "Tensor",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_sequence_attention_forward(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor s, Tensor ss, Tensor "
      "w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr, Tensor? k_ptr, float eps) -> (Tensor "
      "out, Tensor denominator)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_sequence_attention_backward(Tensor grad, Tensor out, Tensor denominator, Tensor q, Tensor k, Tensor "
      "v, Tensor leak, Tensor s, Tensor ss, Tensor w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? "
      "q_ptr, Tensor? k_ptr, float eps) -> Tensor[]",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(geosft, Meta, m) {
  m.impl("sequence_attention", meta);
  m.impl("_sequence_attention_forward", forward_meta);
  m.impl("_sequence_attention_backward", backward_meta);
}

}  // namespace geosft
