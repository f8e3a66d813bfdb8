// SPDX-License-Identifier: Apache-2.0
// sample_pairs above its backends: draw, weight, and the gradient of the weight.
#include "models/ops/sample_pairs.h"

#include <torch/csrc/autograd/custom_function.h>

#include "geometry/copied_to.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/sample_pairs_checks.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor call_pair_weight(const at::Tensor& score, const DrawnPairs& pairs, double tau) {
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
  static const auto op = find_operator<Signature>("_pair_weight");
  return op.call(score, pairs.top, pairs.partner, pairs.noise, tau);
}

at::Tensor call_pair_weight_backward(const at::Tensor& grad, const at::Tensor& score, const DrawnPairs& pairs,
                                     double tau) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
  static const auto op = find_operator<Signature>("_pair_weight_backward");
  return op.call(grad, score, pairs.top, pairs.partner, pairs.noise, tau);
}

class PairWeightBackward : public torch::autograd::Function<PairWeightBackward> {
 public:
  static Variable forward(AutogradContext*, const Variable& grad, const Variable& score, const DrawnPairs& pairs,
                          double tau) {
    at::AutoDispatchBelowADInplaceOrView guard;
    return call_pair_weight_backward(grad, score, pairs, tau);
  }
  static variable_list backward(AutogradContext*, const variable_list&) {
    TORCH_CHECK(false, "double backward of sample_pairs is not supported");
  }
};

class PairWeight : public torch::autograd::Function<PairWeight> {
 public:
  static Variable forward(AutogradContext* context, const Variable& score, const DrawnPairs& pairs, double tau) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({score, pairs.top, pairs.partner, pairs.noise});
    context->saved_data["tau"] = tau;
    return call_pair_weight(score, pairs, tau);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const DrawnPairs pairs{saved[1], saved[2], saved[3], {}};
    const Variable grad = PairWeightBackward::apply(grads[0], saved[0], pairs, context->saved_data["tau"].toDouble());
    return {grad, Variable(), Variable()};
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> sample_pairs_any(
    const at::Tensor& score_in, int64_t k, const std::optional<at::Tensor>& ptr, bool noise, bool random_partner,
    double tau, const std::optional<at::Generator>& generator, const std::optional<at::Tensor>& seeds) {
  const at::ScalarType type = score_in.scalar_type();
  const at::Tensor score = type == at::kHalf || type == at::kBFloat16 ? score_in.to(at::kFloat) : score_in;
  check_draw(score, k, ptr, seeds);
  check_tau(tau);
  std::optional<at::Tensor> item_seeds = seeds;
  if (!seeds.has_value() && (noise || random_partner)) {
    item_seeds = copied_to(draw_seeds(item_count(ptr), generator), score.device());
  }
  const DrawnPairs pairs = draw_pairs(score, k, ptr, noise, random_partner, item_seeds);
  return {pairs.top, pairs.partner, pair_weight(score, pairs, tau).to(type), pairs.sample_ptr};
}

}  // namespace

at::Tensor pair_weight(const at::Tensor& score, const DrawnPairs& pairs, double tau) {
  return PairWeight::apply(score, pairs, tau);
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("sample_pairs", sample_pairs_any);
}

}  // namespace geosft
