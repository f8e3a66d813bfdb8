// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_operator.h"

#include <ATen/OpMathType.h>

namespace geosft {

std::tuple<at::Tensor, at::Tensor> empty_attention(const AttentionInputs& in) {
  const at::Tensor& q = in.q();
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), in.v().sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, q.options().dtype(at::toOpMathType(q.scalar_type())))};
}

std::vector<at::Tensor> empty_gradients(const AttentionInputs& in, const OutputMask& wanted) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& input : in.tensors) {
    if (!input.defined() || !input.is_floating_point()) continue;
    gradients.push_back(at::empty_symint(input.sym_sizes(), input.options()));
  }
  wanted.leave_out(gradients);
  return gradients;
}

}  // namespace geosft
