// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_inputs.h"

#include <ATen/OpMathType.h>

#include <cmath>

#include "models/ops/opmath.h"

namespace geosft {
namespace {

void check_rank(const at::Tensor& tensor, const char* name, int64_t rank, const char* meaning) {
  TORCH_CHECK(tensor.dim() == rank, name, " must be ", meaning, ", got shape ", tensor.sym_sizes());
}

void check_plain(const at::Tensor& tensor, const char* name) {
  TORCH_CHECK(tensor.defined(), name, " must be a tensor");
  TORCH_CHECK(tensor.layout() == at::kStrided, name, " must be a strided tensor, not ", tensor.layout());
}

}  // namespace

void check_like(const at::Tensor& tensor, const char* name, const at::Tensor& like, const char* like_name) {
  check_plain(tensor, name);
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
  check_plain(tensor, name);
  TORCH_CHECK(tensor.scalar_type() == at::kLong, name, " must be int64, not ", tensor.scalar_type());
  TORCH_CHECK(tensor.device() == like.device(), name, " must be on the device of q, ", like.device(), ", not ",
              tensor.device());
  TORCH_CHECK(tensor.dim() == 1, name, " must have one dimension, got shape ", tensor.sym_sizes());
}

void check_query_key_value(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  check_plain(q, "q");
  TORCH_CHECK(is_supported_float(q), "q must be ", supported_floats, ", not ", q.scalar_type());
  check_like(k, "k", q);
  check_like(v, "v", q);
  check_rank(q, "q", 3, "[Nq, h, c]");
  TORCH_SYM_CHECK(q.sym_size(1).sym_ge(1), "q must have at least one head, got shape ", q.sym_sizes());
  TORCH_SYM_CHECK(q.sym_size(2).sym_ge(1), "q must have at least one channel, got shape ", q.sym_sizes());
  check_rank(k, "k", 3, "[Nk, h, c]");
  check_sizes(k, "k", {k.sym_size(0), q.sym_size(1), q.sym_size(2)}, "[Nk, h, c]");
  check_rank(v, "v", 3, "[Nk, h, cv]");
  check_sizes(v, "v", {k.sym_size(0), q.sym_size(1), v.sym_size(2)}, "[Nk, h, cv]");
}

void check_attention(const AttentionInputs& in) {
  check_query_key_value(in.q(), in.k(), in.v());
  check_like(in.leak(), "leak", in.q());
  check_sizes(in.leak(), "leak", {in.k().sym_size(0), in.q().sym_size(1)}, "[Nk, h]");
  check_ptr_pair(in.q_ptr(), "q_ptr", in.q(), in.k_ptr(), "k_ptr", in.k());
  TORCH_CHECK(std::isfinite(in.eps) && in.eps >= 0, "eps must be finite and at least 0, not ", in.eps);
}

void check_relative_weights(const WeightedInputs& in, const c10::SymInt& channels) {
  const c10::SymInt heads = in.q().sym_size(1);
  const auto check = [&](const at::Tensor& tensor, const char* name, at::ArrayRef<c10::SymInt> sizes,
                         const char* meaning) {
    check_like(tensor, name, in.q());
    check_sizes(tensor, name, sizes, meaning);
  };
  check(in.w_mul(), "w_mul", {channels, heads}, "[r, h]");
  check(in.b_mul(), "b_mul", {heads}, "[h]");
  check(in.w_add(), "w_add", {channels, heads}, "[r, h]");
  check(in.b_add(), "b_add", {heads}, "[h]");
}

void check_grad_output(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                       const at::Tensor& q, const at::Tensor& v) {
  const c10::SymInt queries = q.sym_size(0), heads = q.sym_size(1), width = v.sym_size(2);
  check_like(grad, "grad", q);
  check_like(out, "out", q);
  check_sizes(grad, "grad", {queries, heads, width}, "[Nq, h, cv]");
  check_sizes(out, "out", {queries, heads, width}, "[Nq, h, cv]");
  check_sizes(denominator, "denominator", {queries, heads}, "[Nq, h]");
  const at::ScalarType computed = at::toOpMathType(q.scalar_type());
  TORCH_CHECK(denominator.scalar_type() == computed, "denominator must be ", computed, ", not ",
              denominator.scalar_type());
}

AttentionInputs::AttentionInputs(const OptionalTensors& inputs, double eps_) : eps(eps_) {
  TORCH_CHECK(inputs.size() >= 6, "inputs must be at least 6 tensors, or None in place of some, got ", inputs.size());
  tensors.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) tensors.push_back(inputs.get(i).value_or(at::Tensor()));
}

AttentionInputs::AttentionInputs(const OptionalTensors& inputs, double eps_, size_t count)
    : AttentionInputs(inputs, eps_) {
  TORCH_CHECK(tensors.size() == count, "inputs must be ", count, " tensors, or None in place of some, got ",
              tensors.size());
}

OutputMask::OutputMask(const c10::List<bool>& output_mask, const AttentionInputs& in)
    : places_(in.tensors.size(), false) {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (in.tensors[place].defined() && in.tensors[place].is_floating_point()) floating_.push_back(place);
  }
  TORCH_CHECK(output_mask.size() == floating_.size(), "output_mask must have an element for each of the ",
              floating_.size(), " floating inputs, got ", output_mask.size());
  for (size_t i = 0; i < floating_.size(); ++i) places_[floating_[i]] = floating_[i] < 4 || output_mask.get(i);
}

void OutputMask::leave_out(std::vector<at::Tensor>& gradients) const {
  for (size_t i = 0; i < floating_.size(); ++i) {
    if (!places_[floating_[i]]) gradients[i] = at::empty({0}, gradients[i].options());
  }
}

}  // namespace geosft
