// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include <torch/library.h>

#include "models/ops/attention_checks.h"
#include "models/ops/dispatch.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_points(const at::Tensor& points, const char* name, const at::Tensor& tokens, const char* meaning) {
  check_like(points, name, tokens);
  check_sizes(points, name, {tokens.sym_size(0), 3}, meaning);
}

std::tuple<at::Tensor, at::Tensor> forward_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                const at::Tensor& leak, const at::Tensor& x, const at::Tensor& xs,
                                                const Optional& m, const Optional& ms, const at::Tensor& w_mul,
                                                const at::Tensor& b_mul, const at::Tensor& w_add,
                                                const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr,
                                                double eps) {
  check_point_attention(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), v.sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, q.options())};
}

at::Tensor meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return std::get<0>(forward_meta(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward_meta(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                      const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& leak, const at::Tensor& x, const at::Tensor& xs,
                                      const Optional& m, const Optional& ms, const at::Tensor& w_mul,
                                      const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                                      const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_point_attention(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  check_upstream(grad, out, denominator, q, v);
  return empty_gradients({q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add});
}

}  // namespace

at::Tensor point_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  static const auto op = find_operator<decltype(point_attention)>("point_attention");
  return op.call(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
}

void check_point_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_attention(q, k, v, leak, q_ptr, k_ptr, eps);
  TORCH_CHECK(given(m) == given(ms), "m and ms must be given both or neither");
  check_points(x, "x", q, "[Nq, 3]");
  check_points(xs, "xs", k, "[Nk, 3]");
  if (given(m)) check_points(*m, "m", q, "[Nq, 3]");
  if (given(ms)) check_points(*ms, "ms", k, "[Nk, 3]");
  check_relative_weights(q, given(m) ? 2 : 1, w_mul, b_mul, w_add, b_add);
}

TORCH_LIBRARY_FRAGMENT(geosft, m) {
  m.def(
      "point_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor x, Tensor xs, Tensor? m, Tensor? "
      "ms, Tensor w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, "
      "float eps=1e-6) -> Tensor",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_point_attention_forward(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor x, Tensor xs, Tensor? m, "
      "Tensor? ms, Tensor w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr, Tensor? k_ptr, "
      "float eps) -> (Tensor out, Tensor denominator)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "_point_attention_backward(Tensor grad, Tensor out, Tensor denominator, Tensor q, Tensor k, Tensor v, "
      "Tensor leak, Tensor x, Tensor xs, Tensor? m, Tensor? ms, Tensor w_mul, Tensor b_mul, Tensor w_add, "
      "Tensor b_add, Tensor? q_ptr, Tensor? k_ptr, float eps) -> Tensor[]",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(geosft, Meta, m) {
  m.impl("point_attention", meta);
  m.impl("_point_attention_forward", forward_meta);
  m.impl("_point_attention_backward", backward_meta);
}

}  // namespace geosft
