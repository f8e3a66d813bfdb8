// SPDX-License-Identifier: Apache-2.0
// Implements the forward and the backward operator of every attention operator on every device: checks the inputs,
// allocates results, calls the kernels of the device in the type that they compute in, and registers both.
//
// A Device has
//   Operator                          the inputs of an attention bias; Operator::Inputs is derived from AttentionInputs
//   Arguments                         q, k, v, leak and the rest that all operators have, contiguous; Arguments(in)
//   Device(in)                        checks that kernels can run for these inputs
//   forward<T>(operator, arguments, out, denominator)
//                                     runs the kernels
//   backward<T>(operator, arguments, output_mask, outputs)
//                                     returns the gradients of q, k, v, leak and the inputs of the bias, in order
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

#include <tuple>
#include <vector>

#include "geometry/no_autocast.h"
#include "models/ops/attention_operator.h"
#include "models/ops/opmath.h"

namespace geosft {

// w_mul, b_mul, w_add and b_add of a relative encoding, each made contiguous by `convert`.
struct WeightTensors {
  template <class Convert>
  WeightTensors(const WeightedInputs& in, const Convert& convert)
      : w_mul(convert(in.w_mul())),
        b_mul(convert(in.b_mul())),
        w_add(convert(in.w_add())),
        b_add(convert(in.b_add())) {}

  at::Tensor w_mul, b_mul, w_add, b_add;
};

// The gradient of the output, and what the forward pass returned, contiguous.
struct AttentionOutputs {
  at::Tensor grad, out, denominator;
};

template <class Device>
std::tuple<at::Tensor, at::Tensor> attention_forward(const OptionalTensors& inputs, double eps) {
  using Inputs = typename Device::Operator::Inputs;
  const NoAutocast no_autocast;
  const Inputs in(inputs, eps);
  in.check();
  const Device device(in);
  const typename Device::Arguments arguments(in);
  const typename Device::Operator op(in, arguments);
  const at::Tensor& q = arguments.q;
  const at::TensorOptions computed = q.options().dtype(at::toOpMathType(q.scalar_type()));
  const at::Tensor out = at::empty({q.size(0), q.size(1), arguments.v.size(2)}, q.options());
  const at::Tensor denominator = at::empty({q.size(0), q.size(1)}, computed);
  AT_DISPATCH_FLOATING_TYPES(denominator.scalar_type(), Inputs::kOperator,
                             [&] { device.template forward<scalar_t>(op, arguments, out, denominator); });
  return {out, denominator};
}

template <class Device>
std::vector<at::Tensor> attention_backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                           const OptionalTensors& inputs, double eps,
                                           const c10::List<bool>& output_mask_in) {
  using Inputs = typename Device::Operator::Inputs;
  const NoAutocast no_autocast;
  const Inputs in(inputs, eps);
  in.check();
  check_grad_output(grad, out, denominator, in.q(), in.v());
  const Device device(in);
  const OutputMask output_mask(output_mask_in, in);
  const typename Device::Arguments arguments(in);
  typename Device::Operator op(in, arguments);
  const AttentionOutputs outputs{grad.contiguous(), out.contiguous(), denominator.contiguous()};
  std::vector<at::Tensor> gradients;
  AT_DISPATCH_FLOATING_TYPES(denominator.scalar_type(), Inputs::kOperator, [&] {
    gradients = device.template backward<scalar_t>(op, arguments, output_mask, outputs);
  });
  output_mask.leave_out(gradients);
  for (at::Tensor& gradient : gradients) gradient = gradient.to(in.q().scalar_type());
  return gradients;
}

template <class Device>
void implement_attention(torch::Library& m) {
  m.impl(forward_name(Device::Operator::Inputs::kOperator).c_str(), attention_forward<Device>);
  m.impl(backward_name(Device::Operator::Inputs::kOperator).c_str(), attention_backward<Device>);
}

}  // namespace geosft
