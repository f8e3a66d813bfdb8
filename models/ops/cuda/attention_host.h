// SPDX-License-Identifier: Apache-2.0
// Converts lists of tensors to the arrays that the kernels read and write, and back, for every attention operator on
// the GPU and in its emulation. The host reads nothing from the device, so it does not check the values of ptr: see
// PackedRows.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "geometry/device_offsets.h"
#include "geometry/no_autocast.h"
#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/attention_operator.h"
#include "models/ops/cuda/attention_bias.cuh"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/opmath.h"

namespace geosft::cuda {

// Holds the arguments common to all attention operators, contiguous.
class AttentionArguments {
 public:
  explicit AttentionArguments(const AttentionInputs& in)
      : q(in.q().contiguous()),
        k(in.k().contiguous()),
        v(in.v().contiguous()),
        leak(in.leak().contiguous()),
        q_ptr(ptr_on_device(in.q_ptr(), q.device(), "q_ptr")),
        k_ptr(ptr_on_device(in.k_ptr(), q.device(), "k_ptr")),
        eps_(in.eps) {
    constexpr int64_t kMaxHeads = 65535;  // maximum grid height
    TORCH_CHECK(q.size(2) <= kMaxWidth, "q must have at most ", kMaxWidth,
                " channels a head on this device, got shape ", q.sizes());
    TORCH_CHECK(v.size(2) <= kMaxWidth, "v must have at most ", kMaxWidth,
                " channels a head on this device, got shape ", v.sizes());
    TORCH_CHECK(q.size(1) <= kMaxHeads, "q must have at most ", kMaxHeads, " heads on this device, got shape ",
                q.sizes());
  }

  template <typename T, class Launcher>
  AttentionArrays<T> arrays() const {
    const int64_t items = q_ptr.defined() ? q_ptr.size(0) - 1 : 1, heads = q.size(1);
    return {stored<T>(q),
            stored<T>(k),
            stored<T>(v),
            stored<T>(leak),
            heads,
            static_cast<int>(q.size(2)),
            static_cast<int>(v.size(2)),
            static_cast<T>(eps_),
            static_cast<T>(1.0 / std::sqrt(static_cast<double>(q.size(2)))),
            {pointer<int64_t>(q_ptr), items, q.size(0)},
            {pointer<int64_t>(k_ptr), items, k.size(0)},
            many_rows<Launcher>(q.size(0), items, heads),
            many_rows<Launcher>(k.size(0), items, heads)};
  }

  // Options of tensors in the type that kernels compute in, on the device of q.
  at::TensorOptions computed() const { return q.options().dtype(at::toOpMathType(q.scalar_type())); }

  at::Tensor q, k, v, leak, q_ptr, k_ptr;

 private:
  // The launcher of a test may choose the tiles itself.
  template <class Launcher>
  static bool many_rows(int64_t rows, int64_t items, int64_t heads) {
    if constexpr (requires { Launcher::many_rows(rows, items, heads); }) {
      return Launcher::many_rows(rows, items, heads);
    } else {
      return worth_many_rows(rows, items, heads);
    }
  }

  double eps_;
};

// Holds w_mul, b_mul, w_add and b_add of a relative encoding, contiguous.
struct WeightArguments {
  explicit WeightArguments(const WeightedInputs& in)
      : w_mul(contiguous(in.w_mul())),
        b_mul(contiguous(in.b_mul())),
        w_add(contiguous(in.w_add())),
        b_add(contiguous(in.b_add())) {}

  template <typename T>
  RelativeWeights<T> arrays() const {
    return {stored<T>(w_mul), stored<T>(b_mul), stored<T>(w_add), stored<T>(b_add)};
  }

  at::Tensor w_mul, b_mul, w_add, b_add;
};

// Implements the forward and backward operators for an Operator, whose kernels a Launcher(device, op) launches, with
// the members
//   Inputs                           a type derived from AttentionInputs
//   BiasTraits                       the attention bias, such as DenseBiasTraits
//   Operator(const Inputs&, const AttentionArguments&)
//   arrays<T>()                      the inputs of the bias, as the kernels read them
//   begin_gradients<T>(problem, output_mask, arrays&)
//                                    allocates the gradients of the bias and sets their pointers, to null where the
//                                    mask is false
//   gradients()                      the gradients of the floating inputs of the bias in order; any tensor where the
//                                    mask is false
template <class Launcher, class Operator>
std::tuple<at::Tensor, at::Tensor> attention_forward(const OptionalTensors& inputs, double eps) {
  using BiasTraits = typename Operator::BiasTraits;
  const NoAutocast no_autocast;
  const typename Operator::Inputs in(inputs, eps);
  in.check();
  const Launcher launch(in.q().device(), Operator::Inputs::kOperator);
  const AttentionArguments arguments(in);
  const Operator own(in, arguments);
  const at::Tensor& q = arguments.q;
  const at::Tensor out = at::empty({q.size(0), q.size(1), arguments.v.size(2)}, q.options());
  const at::Tensor denominator = at::empty({q.size(0), q.size(1)}, arguments.computed());
  AT_DISPATCH_FLOATING_TYPES(denominator.scalar_type(), Operator::Inputs::kOperator, [&] {
    launch(AttentionForwardCall<BiasTraits, scalar_t>{arguments.arrays<scalar_t, Launcher>(),
                                                      own.template arrays<scalar_t>(),
                                                      {storable<scalar_t>(out), target<scalar_t>(denominator)}});
  });
  return {out, denominator};
}

template <class Launcher, class Operator>
std::vector<at::Tensor> attention_backward(const at::Tensor& grad_in, const at::Tensor& out_in,
                                           const at::Tensor& denominator_in, const OptionalTensors& inputs, double eps,
                                           const c10::List<bool>& output_mask_in) {
  using BiasTraits = typename Operator::BiasTraits;
  const NoAutocast no_autocast;
  const typename Operator::Inputs in(inputs, eps);
  in.check();
  check_grad_output(grad_in, out_in, denominator_in, in.q(), in.v());
  const Launcher launch(in.q().device(), Operator::Inputs::kOperator);
  const AttentionArguments arguments(in);
  const OutputMask output_mask(output_mask_in, in);
  Operator own(in, arguments);
  const at::Tensor grad = grad_in.contiguous(), out = out_in.contiguous(), denominator = denominator_in.contiguous();
  const at::Tensor share = at::empty_like(denominator), delta = at::empty_like(denominator);
  std::vector<at::Tensor> gradients;
  for (const at::Tensor* tensor : {&arguments.q, &arguments.k, &arguments.v, &arguments.leak}) {
    gradients.push_back(at::empty_like(*tensor));
  }
  AT_DISPATCH_FLOATING_TYPES(denominator.scalar_type(), Operator::Inputs::kOperator, [&] {
    const auto problem = arguments.arrays<scalar_t, Launcher>();
    auto bias = own.template arrays<scalar_t>();
    own.begin_gradients(problem, output_mask, bias);
    launch(AttentionBackwardCall<BiasTraits, scalar_t>{
        problem,
        bias,
        {stored<scalar_t>(grad), stored<scalar_t>(out), pointer<scalar_t>(denominator), target<scalar_t>(share),
         target<scalar_t>(delta), storable<scalar_t>(gradients[0]), storable<scalar_t>(gradients[1]),
         storable<scalar_t>(gradients[2]), storable<scalar_t>(gradients[3])}});
  });
  for (const at::Tensor& gradient : own.gradients()) gradients.push_back(gradient);
  output_mask.leave_out(gradients);
  for (at::Tensor& gradient : gradients) gradient = gradient.to(in.q().scalar_type());
  return gradients;
}

template <class Launcher, class Operator>
void implement_attention(torch::Library& m) {
  m.impl(forward_name(Operator::Inputs::kOperator).c_str(), attention_forward<Launcher, Operator>);
  m.impl(backward_name(Operator::Inputs::kOperator).c_str(), attention_backward<Launcher, Operator>);
}

}  // namespace geosft::cuda
