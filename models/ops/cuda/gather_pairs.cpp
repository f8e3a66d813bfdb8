// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "models/ops/autograd/double_backward.h"
#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/cuda/gather_pairs_launch.h"
#include "models/ops/gather_pairs.h"

namespace geosft::cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor forward(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight) {
  const Stream stream(x.device());
  return gathered_pairs(x, top, partner, weight,
                        [&](const auto& in) { check_launch(launch_gather(in, stream.get()), "gather_pairs"); });
}

struct GatherPairs : torch::autograd::Function<GatherPairs> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& top,
                            const at::Tensor& partner, const at::Tensor& weight) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, top, partner, weight});
    return gather_pairs(x, top, partner, weight);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const variable_list gradients = refuse_double_backward("gather_pairs", {saved[0], saved[3], grads[0]}, [&] {
      const Stream stream(saved[0].device());
      const WantedOfPairs wanted{context->needs_input_grad(0), context->needs_input_grad(3)};
      const auto [x, weight] = gathered_backward(
          grads[0], saved[0], saved[1], saved[2], saved[3], wanted,
          [&](const auto& in) { check_launch(launch_gather(in, stream.get()), "gather_pairs backward"); });
      return variable_list{x, weight};
    });
    return {gradients[0], at::Tensor(), at::Tensor(), gradients[1]};
  }
};

at::Tensor differentiable(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                          const at::Tensor& weight) {
  return GatherPairs::apply(x, top, partner, weight);
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("gather_pairs", forward);
}
GEOSFT_KERNELS(AutogradCUDA, m) {
  m.impl("gather_pairs", differentiable);
}

}  // namespace geosft::cuda
