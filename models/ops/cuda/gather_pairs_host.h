// SPDX-License-Identifier: Apache-2.0
// Computes gather_pairs and its gradients on tensors, for the GPU and its emulation: run(PairGather<T>, PairScatter<T>
// or PairWeights<T>) launches the kernels. The host reads nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "geometry/operators.h"
#include "geometry/transform_checks.h"
#include "models/ops/cuda/gather_pairs_kernel.cuh"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/gather_pairs.h"
#include "models/ops/once_differentiable.h"

namespace geosft::cuda {

// x and weight, contiguous, for kernels that compute in `type`, the wider of the two types.
struct PairNumbers {
  at::ScalarType result, type;
  at::Tensor x, weight;

  PairNumbers(const at::Tensor& x_in, const at::Tensor& weight_in)
      : result(at::promote_types(x_in.scalar_type(), weight_in.scalar_type())),
        type(at::toOpMathType(result)),
        x(readable(x_in)),
        weight(readable(weight_in)) {}
  // Converts a half type if the other type is float64.
  at::Tensor readable(const at::Tensor& tensor) const {
    return (at::toOpMathType(tensor.scalar_type()) == type ? tensor : tensor.to(type)).contiguous();
  }
  int64_t width() const { return x.size(0) == 0 ? 0 : x.numel() / x.size(0); }

  // `top` and `partner` must be contiguous.
  template <typename T>
  PairGather<T> pairs(const at::Tensor& top, const at::Tensor& partner) const {
    return {stored<T>(x),
            top.const_data_ptr<int64_t>(),
            partner.const_data_ptr<int64_t>(),
            stored<T>(weight),
            x.size(0),
            weight.size(0),
            width(),
            {}};
  }
};

template <class Run>
at::Tensor gathered_pairs(const at::Tensor& x_in, const at::Tensor& top_in, const at::Tensor& partner_in,
                          const at::Tensor& weight_in, const Run& run) {
  check_gather_pairs(x_in, top_in, partner_in, weight_in);
  const PairNumbers in(x_in, weight_in);
  check_any_row(top_in, in.x, "x");
  const at::Tensor top = top_in.contiguous(), partner = partner_in.contiguous();
  std::vector<int64_t> shape = in.x.sizes().vec();
  shape[0] = in.weight.size(0);
  const at::Tensor out = at::empty(shape, in.x.options().dtype(in.result));
  AT_DISPATCH_FLOATING_TYPES(in.type, "gather_pairs", [&] {
    PairGather<scalar_t> call = in.template pairs<scalar_t>(top, partner);
    call.out = storable<scalar_t>(out);
    run(call);
  });
  return out;
}

// `top` and `partner` must be contiguous rows of in.x; grad comes from `readable`.
template <class Run>
at::Tensor scattered(const PairNumbers& in, const at::Tensor& top, const at::Tensor& partner, const at::Tensor& grad,
                     const Run& run) {
  const at::Tensor x_grad = at::empty_like(in.x);
  const auto [rows, codes] = at::stack({top, partner}, 1).flatten().sort(/*stable=*/true, 0, false);
  const at::Tensor row_ptr = at::searchsorted(rows, at::arange(in.x.size(0) + 1, rows.options()));
  AT_DISPATCH_FLOATING_TYPES(in.type, "gather_pairs", [&] {
    run(PairScatter<scalar_t>{stored<scalar_t>(grad), stored<scalar_t>(in.weight), row_ptr.const_data_ptr<int64_t>(),
                              codes.const_data_ptr<int64_t>(), in.x.size(0), in.width(), storable<scalar_t>(x_grad)});
  });
  return x_grad;
}
template <class Run>
at::Tensor weight_gradient(const PairNumbers& in, const at::Tensor& top, const at::Tensor& partner,
                           const at::Tensor& grad, const Run& run) {
  const at::Tensor weight_grad = at::empty_like(in.weight);
  AT_DISPATCH_FLOATING_TYPES(in.type, "gather_pairs", [&] {
    run(PairWeights<scalar_t>{in.template pairs<scalar_t>(top, partner), stored<scalar_t>(grad),
                              storable<scalar_t>(weight_grad)});
  });
  return weight_grad;
}

struct GatherPairsMask {
  bool x = true, weight = true;
};

// Gradients of x and weight, undefined where output_mask is false.
template <class Run>
std::tuple<at::Tensor, at::Tensor> gathered_backward(const at::Tensor& grad_in, const at::Tensor& x_in,
                                                     const at::Tensor& top_in, const at::Tensor& partner_in,
                                                     const at::Tensor& weight_in, GatherPairsMask output_mask,
                                                     const Run& run) {
  const PairNumbers in(x_in, weight_in);
  const at::Tensor top = named_rows(top_in, in.x, "x").contiguous();
  const at::Tensor partner = named_rows(partner_in, in.x, "x").contiguous();
  const at::Tensor grad = in.readable(grad_in);
  at::Tensor x_grad, weight_grad;
  if (output_mask.x) x_grad = scattered(in, top, partner, grad, run).to(x_in.scalar_type());
  if (output_mask.weight) weight_grad = weight_gradient(in, top, partner, grad, run).to(weight_in.scalar_type());
  return {x_grad, weight_grad};
}

template <class Launcher>
struct GatherPairs : torch::autograd::Function<GatherPairs<Launcher>> {
  using Context = torch::autograd::AutogradContext;
  using List = torch::autograd::variable_list;

  static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                            const at::Tensor& weight) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, top, partner, weight});
    return gather_pairs(x, top, partner, weight);
  }
  static List backward(Context* context, const List& grads) {
    const List saved = context->get_saved_variables();
    const GatherPairsMask output_mask{context->needs_input_grad(0), context->needs_input_grad(3)};
    const List gradients = once_differentiable("gather_pairs", {saved[0], saved[3], grads[0]}, [&] {
      const auto [x, weight] = gathered_backward(grads[0], saved[0], saved[1], saved[2], saved[3], output_mask,
                                                 Launcher(saved[0].device(), "gather_pairs"));
      return List{x, weight};
    });
    return {gradients[0], at::Tensor(), at::Tensor(), gradients[1]};
  }
};

template <class Launcher>
at::Tensor differentiable_gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                                       const at::Tensor& weight) {
  check_transforms("gather_pairs", {x, weight});
  return GatherPairs<Launcher>::apply(x, top, partner, weight);
}

// Register the operator and its autograd for a device; Launcher(device, op) is constructed once per call:
// KernelLauncher, or its replacement in tests.
template <class Launcher>
void implement_gather_pairs(torch::Library& m) {
  m.impl("gather_pairs",
         [](const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight) {
           return gathered_pairs(x, top, partner, weight, Launcher(x.device(), "gather_pairs"));
         });
}
template <class Launcher>
void implement_gather_pairs_autograd(torch::Library& m) {
  m.impl("gather_pairs", differentiable_gather_pairs<Launcher>);
}

}  // namespace geosft::cuda
