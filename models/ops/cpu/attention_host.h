// SPDX-License-Identifier: Apache-2.0
// Converts lists of tensors to the arrays that the attention kernels read and write, and back, for every attention
// operator.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <tuple>

#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/attention_operator.h"
#include "models/ops/cpu/attention_gradients.h"
#include "models/ops/opmath.h"

namespace geosft {

template <typename T>
const T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}

inline at::Tensor contiguous(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

// Holds the arguments common to all attention operators.
struct AttentionArguments {
  explicit AttentionArguments(const AttentionInputs& in)
      : q(contiguous(in.q())),
        k(contiguous(in.k())),
        v(contiguous(in.v())),
        leak(opmath_contiguous(in.leak())),
        offsets(packed_offset_pair(in.q_ptr(), q.size(0), "q_ptr", in.k_ptr(), k.size(0), "k_ptr")),
        eps(in.eps) {}

  template <typename T>
  AttentionProblem<T> problem() const {
    return {stored_rows<T>(q, q.size(1) * q.size(2)),
            stored_rows<T>(k, k.size(1) * k.size(2)),
            stored_rows<T>(v, v.size(1) * v.size(2)),
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

// w_* [channels, heads], b_* [heads]: mul = softplus(X w_mul + b_mul), add = X w_add + b_add.
template <typename T>
struct RelativeWeights {
  const T* w_mul = nullptr;
  const T* b_mul = nullptr;
  const T* w_add = nullptr;
  const T* b_add = nullptr;
};

// Holds w_mul, b_mul, w_add and b_add.
struct WeightArguments {
  explicit WeightArguments(const WeightedInputs& in)
      : w_mul(opmath_contiguous(in.w_mul())),
        b_mul(opmath_contiguous(in.b_mul())),
        w_add(opmath_contiguous(in.w_add())),
        b_add(opmath_contiguous(in.b_add())) {}

  template <typename T>
  RelativeWeights<T> pointers() const {
    return {pointer<T>(w_mul), pointer<T>(b_mul), pointer<T>(w_add), pointer<T>(b_add)};
  }

  at::Tensor w_mul, b_mul, w_add, b_add;
};

// Allocates the gradient of rows `like` if it is requested.
template <typename T>
RowGradient<T> row_gradient(bool requested, const at::Tensor& like, int64_t copies) {
  return requested ? RowGradient<T>(like.sizes(), copies, like.scalar_type()) : RowGradient<T>();
}

// Implements the forward and backward operators for an Operator, which has
//   Inputs                                        a type derived from AttentionInputs
//   Operator(const Inputs&, const AttentionArguments&)
//   arrays<T>(problem)                            the inputs of the attention bias, as the kernels read them
//   begin_gradients(problem, plan, output_mask, arrays&)
//                                                 allocates the gradients of the bias that the mask requests
//   gradients(arrays&)                            the gradients of the floating inputs of the bias, in order; an empty
//                                                 tensor where the mask is false
//   widths(heads, output_mask)                    sizes of the accumulators of the bias
// and for its Kernels, which GEOSFT_REGISTER_ATTENTION defines.
template <class Operator, class Kernels>
std::tuple<at::Tensor, at::Tensor> attention_forward(const OptionalTensors& inputs, double eps) {
  const typename Operator::Inputs in(inputs, eps);
  in.check();
  const AttentionArguments arguments(in);
  const Operator own(in, arguments);
  at::Tensor out = at::empty({arguments.q.size(0), arguments.q.size(1), arguments.v.size(2)}, arguments.q.options());
  at::Tensor denominator = at::empty({arguments.q.size(0), arguments.q.size(1)}, arguments.leak.options());
  AT_DISPATCH_FLOATING_TYPES(arguments.leak.scalar_type(), Operator::Inputs::kOperator, [&] {
    const auto problem = arguments.problem<scalar_t>();
    Kernels::template forward_kernel<scalar_t>()(problem, own.template arrays<scalar_t>(problem),
                                                 writable_rows<scalar_t>(out, problem.heads * problem.cv),
                                                 denominator.mutable_data_ptr<scalar_t>());
  });
  return {out, denominator};
}

template <class Operator, class Kernels>
std::vector<at::Tensor> attention_backward(const at::Tensor& grad_in, const at::Tensor& out_in,
                                           const at::Tensor& denominator_in, const OptionalTensors& inputs, double eps,
                                           const c10::List<bool>& output_mask_in) {
  const typename Operator::Inputs in(inputs, eps);
  in.check();
  check_grad_output(grad_in, out_in, denominator_in, in.q(), in.v());
  const OutputMask output_mask(output_mask_in, in);
  const AttentionArguments arguments(in);
  const Operator own(in, arguments);
  const at::Tensor grad = contiguous(grad_in), out = contiguous(out_in), denominator = contiguous(denominator_in);
  std::vector<at::Tensor> gradients;
  AT_DISPATCH_FLOATING_TYPES(arguments.leak.scalar_type(), Operator::Inputs::kOperator, [&] {
    const auto problem = arguments.problem<scalar_t>();
    const BackwardPlan plan = backward_plan(problem.q_offsets, problem.k_offsets, problem.heads, problem.c, problem.cv,
                                            own.widths(problem.heads, output_mask), !problem.q.computed());
    CoreGradients<scalar_t> to(problem, plan, arguments.q.scalar_type());
    auto arrays = own.template arrays<scalar_t>(problem);
    own.begin_gradients(problem, plan, output_mask, arrays);
    const int64_t width = problem.heads * problem.cv;
    const AttentionGradOutput<scalar_t> grad_output{stored_rows<scalar_t>(grad, width),
                                                    stored_rows<scalar_t>(out, width), pointer<scalar_t>(denominator)};
    Kernels::template backward_kernel<scalar_t>()(problem, arrays, plan, grad_output, to);
    for (at::Tensor& gradient : to.finish(problem, plan)) gradients.push_back(std::move(gradient));
    for (at::Tensor& gradient : own.gradients(arrays)) gradients.push_back(std::move(gradient));
  });
  for (at::Tensor& gradient : gradients) gradient = gradient.to(in.q().scalar_type());
  return gradients;
}

template <class Operator, class Kernels>
void implement_attention(torch::Library& m) {
  m.impl(forward_name(Operator::Inputs::kOperator).c_str(), attention_forward<Operator, Kernels>);
  m.impl(backward_name(Operator::Inputs::kOperator).c_str(), attention_backward<Operator, Kernels>);
}

}  // namespace geosft
