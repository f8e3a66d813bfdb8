// SPDX-License-Identifier: Apache-2.0
#include "models/ops/maxout_attention.h"

#include "models/ops/attention_operator.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

void check_dense(const at::Tensor& r, const char* name, const AttentionInputs& in) {
  if (!r.defined()) return;
  check_like(r, name, in.q());
  TORCH_CHECK(r.dim() == 2, name, " must be [sum_b nq_b * nk_b, h], got shape ", r.sym_sizes());
  const c10::SymInt pairs = in.q_ptr().defined() ? r.sym_size(0) : in.q().sym_size(0) * in.k().sym_size(0);
  check_sizes(r, name, {pairs, in.q().sym_size(1)}, "[sum_b nq_b * nk_b, h]");
}

}  // namespace

at::Tensor maxout_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                            const Optional& r_mul, const Optional& r_add, const Optional& q_ptr, const Optional& k_ptr,
                            double eps) {
  return attend<MaxoutInputs>({q, k, v, leak, r_mul, r_add, q_ptr, k_ptr}, eps);
}

void MaxoutInputs::check() const {
  check_attention(*this);
  check_dense(r_mul(), "r_mul", *this);
  check_dense(r_add(), "r_add", *this);
}

GEOSFT_OPERATORS(m) {
  define_attention<MaxoutInputs>(
      m,
      "maxout_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor? r_mul=None, Tensor? r_add=None, "
      "Tensor? q_ptr=None, Tensor? k_ptr=None, float eps=1e-6) -> Tensor",
      maxout_attention);
}

}  // namespace geosft
