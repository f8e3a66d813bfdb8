// SPDX-License-Identifier: Apache-2.0
#include "models/ops/seeded_dropout.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "geometry/operators.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

at::Tensor masked(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  using Signature = at::Tensor(const at::Tensor&, double, const at::Tensor&, int64_t);
  static const auto op = find_operator<Signature>("_seeded_dropout");
  at::AutoDispatchBelowADInplaceOrView below;
  return op.call(x, probability, seed, first);
}

class SeededDropout : public torch::autograd::Function<SeededDropout> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability,
                            const at::Tensor& seed, int64_t first) {
    context->save_for_backward({seed});
    context->saved_data["probability"] = probability;
    context->saved_data["first"] = first;
    return masked(x, probability, seed, first);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    // Dropout is linear in x: its gradient is the same mask, and differentiable again.
    const at::Tensor grad =
        SeededDropout::apply(grads[0], context->saved_data["probability"].toDouble(), context->get_saved_variables()[0],
                             context->saved_data["first"].toInt());
    return {grad, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

void check_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  TORCH_CHECK(is_supported_float(x), "x must be ", supported_floats, ", not ", x.scalar_type());
  TORCH_CHECK(probability >= 0 && probability < 1, "probability must be in [0, 1), got ", probability);
  TORCH_CHECK(seed.scalar_type() == at::kLong && seed.numel() == 1, "seed must be int64 with one element, got ",
              seed.scalar_type(), " ", seed.sizes());
  TORCH_CHECK(seed.device() == x.device(), "seed must be on the device of x, ", x.device(), ", not ", seed.device());
  const int64_t count = x.numel();
  constexpr int64_t room = 64;  // positions are rounded up to whole groups
  TORCH_CHECK(first >= 0 && first <= std::numeric_limits<int64_t>::max() - room - count,
              "first must be 0 or more, and leave room for ", count, " places, got ", first);
}

at::Tensor seeded_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  check_dropout(x, probability, seed, first);
  if (probability == 0) return x;
  return SeededDropout::apply(x, probability, seed, first);
}

GEOSFT_OPERATORS(m) {
  m.def("_seeded_dropout(Tensor x, float probability, Tensor seed, int first=0) -> Tensor");
}

}  // namespace geosft
