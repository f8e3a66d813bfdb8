// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_checks.h"

#include <cmath>

namespace geosft {
namespace {

void check_rank(const at::Tensor& tensor, const char* name, int64_t rank, const char* meaning) {
  TORCH_CHECK(tensor.dim() == rank, name, " must be ", meaning, ", got shape ", tensor.sym_sizes());
}

}  // namespace

void check_like(const at::Tensor& tensor, const char* name, const at::Tensor& like, const char* like_name) {
  TORCH_CHECK(tensor.defined(), name, " must be a tensor");
  TORCH_CHECK(tensor.scalar_type() == like.scalar_type(), name, " must have the dtype of ", like_name, ", ",
              like.scalar_type(), ", not ", tensor.scalar_type());
  TORCH_CHECK(tensor.device() == like.device(), name, " must be on the device of ", like_name, ", ", like.device(),
              ", not ", tensor.device());
}

void check_sizes(const at::Tensor& tensor, const char* name, at::ArrayRef<c10::SymInt> sizes, const char* meaning) {
  check_rank(tensor, name, static_cast<int64_t>(sizes.size()), meaning);
  for (size_t i = 0; i < sizes.size(); ++i) {
    TORCH_SYM_CHECK(tensor.sym_size(static_cast<int64_t>(i)).sym_eq(sizes[i]), name, " must be ", meaning, " = ", sizes,
                    ", got shape ", tensor.sym_sizes());
  }
}

void check_index(const at::Tensor& tensor, const char* name, const at::Tensor& like) {
  TORCH_CHECK(tensor.defined(), name, " must be a tensor");
  TORCH_CHECK(tensor.scalar_type() == at::kLong, name, " must be int64, not ", tensor.scalar_type());
  TORCH_CHECK(tensor.device() == like.device(), name, " must be on the device of q, ", like.device(), ", not ",
              tensor.device());
  TORCH_CHECK(tensor.dim() == 1, name, " must have one dimension, got shape ", tensor.sym_sizes());
}

void check_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                     const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr, double eps) {
  TORCH_CHECK(q.defined(), "q must be a tensor");
  TORCH_CHECK(q.scalar_type() == at::kFloat || q.scalar_type() == at::kDouble, "q must be float32 or float64, not ",
              q.scalar_type());
  check_like(k, "k", q);
  check_like(v, "v", q);
  check_like(leak, "leak", q);
  check_rank(q, "q", 3, "[Nq, h, c]");
  TORCH_SYM_CHECK(q.sym_size(1).sym_ge(1), "q must have at least one head, got shape ", q.sym_sizes());
  TORCH_SYM_CHECK(q.sym_size(2).sym_ge(1), "q must have at least one channel, got shape ", q.sym_sizes());
  check_rank(k, "k", 3, "[Nk, h, c]");
  check_sizes(k, "k", {k.sym_size(0), q.sym_size(1), q.sym_size(2)}, "[Nk, h, c]");
  check_rank(v, "v", 3, "[Nk, h, cv]");
  check_sizes(v, "v", {k.sym_size(0), q.sym_size(1), v.sym_size(2)}, "[Nk, h, cv]");
  check_sizes(leak, "leak", {k.sym_size(0), q.sym_size(1)}, "[Nk, h]");
  check_ptr_pair(q_ptr, "q_ptr", k_ptr, "k_ptr");
  TORCH_CHECK(std::isfinite(eps) && eps >= 0, "eps must be finite and at least 0, not ", eps);
}

void check_relative_weights(const at::Tensor& q, const c10::SymInt& channels, const at::Tensor& w_mul,
                            const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add) {
  check_like(w_mul, "w_mul", q);
  check_like(b_mul, "b_mul", q);
  check_like(w_add, "w_add", q);
  check_like(b_add, "b_add", q);
  check_sizes(w_mul, "w_mul", {channels, q.sym_size(1)}, "[r, h]");
  check_sizes(b_mul, "b_mul", {q.sym_size(1)}, "[h]");
  check_sizes(w_add, "w_add", {channels, q.sym_size(1)}, "[r, h]");
  check_sizes(b_add, "b_add", {q.sym_size(1)}, "[h]");
}

void check_upstream(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator, const at::Tensor& q,
                    const at::Tensor& v) {
  check_like(grad, "grad", q);
  check_like(out, "out", q);
  check_like(denominator, "denominator", q);
  check_sizes(grad, "grad", {q.sym_size(0), q.sym_size(1), v.sym_size(2)}, "[Nq, h, cv]");
  check_sizes(out, "out", {q.sym_size(0), q.sym_size(1), v.sym_size(2)}, "[Nq, h, cv]");
  check_sizes(denominator, "denominator", {q.sym_size(0), q.sym_size(1)}, "[Nq, h]");
}

std::vector<at::Tensor> empty_gradients(const std::vector<std::optional<at::Tensor>>& inputs) {
  std::vector<at::Tensor> gradients;
  for (const auto& input : inputs) {
    gradients.push_back(given(input) ? at::empty_symint(input->sym_sizes(), input->options())
                                     : at::empty({0}, inputs.front()->options()));
  }
  return gradients;
}

}  // namespace geosft
