// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sequence_attention.h"

#include "models/ops/attention_operator.h"

namespace geosft {

using Optional = std::optional<at::Tensor>;

at::Tensor sequence_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                              const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                              const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                              const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return attend<SequenceInputs>({q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr}, eps);
}

void SequenceInputs::check() const {
  check_attention(*this);
  check_like(s(), "s", q());
  check_like(ss(), "ss", q());
  TORCH_CHECK(s().dim() == 2, "s must be [Nq, ds], got shape ", s().sym_sizes());
  TORCH_SYM_CHECK(s().sym_size(1).sym_ge(1), "s must have at least one channel, got shape ", s().sym_sizes());
  check_sizes(s(), "s", {q().sym_size(0), s().sym_size(1)}, "[Nq, ds]");
  check_sizes(ss(), "ss", {k().sym_size(0), s().sym_size(1)}, "[Nk, ds]");
  check_relative_weights(*this, s().sym_size(1));
}

GEOSFT_OPERATORS(m) {
  define_attention<SequenceInputs>(
      m,
      "sequence_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor s, Tensor ss, Tensor w_mul, "
      "Tensor b_mul, Tensor w_add, Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, float eps=1e-6) -> "
      "Tensor",
      sequence_attention);
}

}  // namespace geosft
