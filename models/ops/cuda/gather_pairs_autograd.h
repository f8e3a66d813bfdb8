// SPDX-License-Identifier: Apache-2.0
// gather_pairs with its gradients, for the GPU and its emulation. Launcher(device) is made once a call, and launches
// PairGather, PairScatter and PairWeights of any type.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/gather_pairs.h"
#include "models/ops/once_differentiable.h"

namespace geosft::cuda {

template <class Launcher>
at::Tensor gather_pairs_on(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                           const at::Tensor& weight) {
  return gathered_pairs(x, top, partner, weight, Launcher(x.device()));
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
    const WantedOfPairs wanted{context->needs_input_grad(0), context->needs_input_grad(3)};
    const List gradients = once_differentiable("gather_pairs", {saved[0], saved[3], grads[0]}, [&] {
      const auto [x, weight] =
          gathered_backward(grads[0], saved[0], saved[1], saved[2], saved[3], wanted, Launcher(saved[0].device()));
      return List{x, weight};
    });
    return {gradients[0], at::Tensor(), at::Tensor(), gradients[1]};
  }
};

template <class Launcher>
at::Tensor differentiable_gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                                       const at::Tensor& weight) {
  return GatherPairs<Launcher>::apply(x, top, partner, weight);
}

}  // namespace geosft::cuda
