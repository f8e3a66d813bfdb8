// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include "models/ops/attention_operator.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_points(const at::Tensor& points, const char* name, const at::Tensor& tokens, const char* meaning) {
  check_like(points, name, tokens);
  check_sizes(points, name, {tokens.sym_size(0), 3}, meaning);
}

}  // namespace

at::Tensor point_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return attend<PointInputs>({q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr}, eps);
}

void PointInputs::check() const {
  check_attention(*this);
  TORCH_CHECK(m().defined() == ms().defined(), "m and ms must be given both or neither");
  check_points(x(), "x", q(), "[Nq, 3]");
  check_points(xs(), "xs", k(), "[Nk, 3]");
  if (m().defined()) check_points(m(), "m", q(), "[Nq, 3]");
  if (ms().defined()) check_points(ms(), "ms", k(), "[Nk, 3]");
  check_relative_weights(*this, channels());
}

int64_t PointInputs::channels() const {
  const bool matrix = w_mul().defined() && w_mul().dim() == 2;
  const int64_t rows = matrix ? w_mul().sym_size(0).guard_int(__FILE__, __LINE__) : 2;
  const bool of_normals = rows == 2 || rows == 4 || rows == 5;
  if (!m().defined()) {
    TORCH_CHECK(!matrix || !of_normals, "w_mul must be [r, h] = [1, h] without the normals m and ms, got shape ",
                w_mul().sym_sizes());
    return 1;
  }
  TORCH_CHECK(of_normals, "w_mul must be [r, h] with r = 2, 4 or 5 channels, got shape ", w_mul().sym_sizes());
  return rows;
}

GEOSFT_OPERATORS(m) {
  define_attention<PointInputs>(
      m,
      "point_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor x, Tensor xs, Tensor? m, Tensor? "
      "ms, Tensor w_mul, Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, "
      "float eps=1e-6) -> Tensor",
      point_attention);
}

}  // namespace geosft
