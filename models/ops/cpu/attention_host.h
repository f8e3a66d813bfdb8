// SPDX-License-Identifier: Apache-2.0
// From checked tensors to the arrays that the attention kernels see, and back; the same for every operator.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>
#include <tuple>

#include "geometry/packed.h"
#include "models/ops/attention_checks.h"
#include "models/ops/cpu/attention_gradients.h"
#include "models/ops/cpu/attention_terms.h"

namespace geosft {

inline at::Tensor contiguous(const std::optional<at::Tensor>& tensor) {
  return given(tensor) ? tensor->contiguous() : at::Tensor();
}

template <typename T>
const T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}

// w_mul, b_mul, w_add and b_add, contiguous.
struct WeightArguments {
  WeightArguments(const at::Tensor& w_mul_, const at::Tensor& b_mul_, const at::Tensor& w_add_,
                  const at::Tensor& b_add_)
      : w_mul(w_mul_.contiguous()),
        b_mul(b_mul_.contiguous()),
        w_add(w_add_.contiguous()),
        b_add(b_add_.contiguous()) {}

  template <typename T>
  RelativeWeights<T> pointers() const {
    return {pointer<T>(w_mul), pointer<T>(b_mul), pointer<T>(w_add), pointer<T>(b_add)};
  }

  at::Tensor w_mul, b_mul, w_add, b_add;
};

// The arguments that all attention operators have, contiguous.
struct AttentionArguments {
  AttentionArguments(const at::Tensor& q_, const at::Tensor& k_, const at::Tensor& v_, const at::Tensor& leak_,
                     const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr, double eps_)
      : q(q_.contiguous()),
        k(k_.contiguous()),
        v(v_.contiguous()),
        leak(leak_.contiguous()),
        offsets(packed_offset_pair(q_ptr, q_.size(0), "q_ptr", k_ptr, k_.size(0), "k_ptr")),
        eps(eps_) {}

  template <typename T>
  AttentionProblem<T> problem() const {
    return {q.const_data_ptr<T>(),
            k.const_data_ptr<T>(),
            v.const_data_ptr<T>(),
            leak.const_data_ptr<T>(),
            q.size(1),
            q.size(2),
            v.size(2),
            static_cast<T>(eps),
            offsets.first,
            offsets.second};
  }

  at::Tensor q, k, v, leak;
  OffsetPair offsets;
  double eps;
};

// run(problem, out, denominator) for float or double; the tensors it filled.
template <class Run>
std::tuple<at::Tensor, at::Tensor> attention_forward(const AttentionArguments& a, const Run& run) {
  at::Tensor out = at::empty({a.q.size(0), a.q.size(1), a.v.size(2)}, a.q.options());
  at::Tensor denominator = at::empty({a.q.size(0), a.q.size(1)}, a.q.options());
  AT_DISPATCH_FLOATING_TYPES(a.q.scalar_type(), "attention", [&] {
    run(a.problem<scalar_t>(), out.mutable_data_ptr<scalar_t>(), denominator.mutable_data_ptr<scalar_t>());
  });
  return {out, denominator};
}

// run(problem, plan, upstream, gradients) for float or double; the gradients of q, k, v and leak. `shared` are the
// widths of what the relative term accumulates over heads.
template <class Run>
std::vector<at::Tensor> attention_backward(const AttentionArguments& a, const at::Tensor& grad_in,
                                           const at::Tensor& out_in, const at::Tensor& denominator_in,
                                           SharedWidths shared, const Run& run) {
  check_upstream(grad_in, out_in, denominator_in, a.q, a.v);
  const at::Tensor grad = grad_in.contiguous(), out = out_in.contiguous(), denominator = denominator_in.contiguous();
  std::vector<at::Tensor> gradients;
  AT_DISPATCH_FLOATING_TYPES(a.q.scalar_type(), "attention_backward", [&] {
    const auto problem = a.problem<scalar_t>();
    const BackwardPlan plan =
        backward_plan(problem.q_offsets, problem.k_offsets, problem.heads, problem.c, problem.cv, shared);
    CoreGradients<scalar_t> to(problem, plan);
    const AttentionUpstream<scalar_t> upstream{grad.const_data_ptr<scalar_t>(), out.const_data_ptr<scalar_t>(),
                                               denominator.const_data_ptr<scalar_t>()};
    run(problem, plan, upstream, to);
    for (at::Tensor& gradient : to.finish(problem, plan)) gradients.push_back(std::move(gradient));
  });
  return gradients;
}

}  // namespace geosft
