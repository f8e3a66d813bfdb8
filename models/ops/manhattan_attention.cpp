// SPDX-License-Identifier: Apache-2.0
#include "models/ops/manhattan_attention.h"

#include "models/ops/attention_operator.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_points(const at::Tensor& points, const char* name, const at::Tensor& tokens, const char* meaning) {
  check_like(points, name, tokens);
  check_sizes(points, name, {tokens.sym_size(0), 3}, meaning);
}

}  // namespace

at::Tensor manhattan_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return attend<ManhattanInputs>({q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr}, eps);
}

void ManhattanInputs::check() const {
  check_attention(*this);
  TORCH_CHECK(m().defined() == ms().defined(), "m and ms must be given both or neither");
  check_points(x(), "x", q(), "[Nq, 3]");
  check_points(xs(), "xs", k(), "[Nk, 3]");
  if (m().defined()) check_points(m(), "m", q(), "[Nq, 3]");
  if (ms().defined()) check_points(ms(), "ms", k(), "[Nk, 3]");
  check_relative_weights(*this, m().defined() ? 2 : 1);
}

GEOSFT_OPERATORS(m) {
  define_attention<ManhattanInputs>(
      m,
      "manhattan_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor x, Tensor xs, Tensor? m, Tensor? "
      "ms, Tensor w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, "
      "float eps=1e-6) -> Tensor",
      manhattan_attention);
}

}  // namespace geosft
