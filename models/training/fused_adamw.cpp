// SPDX-License-Identifier: Apache-2.0
#include "models/training/fused_adamw.h"

#include <ATen/core/grad_mode.h>

namespace geosft {
namespace {

constexpr double first_scale = 65536.0;
constexpr int64_t steps_to_growth = 2000;

}  // namespace

std::map<double, std::vector<at::Tensor>> by_factor(const std::vector<at::Tensor>& items,
                                                    const std::vector<double>& factors) {
  std::map<double, std::vector<at::Tensor>> groups;
  for (size_t i = 0; i < items.size(); ++i) groups[factors.empty() ? 1.0 : factors.at(i)].push_back(items[i]);
  return groups;
}

FusedAdamW::FusedAdamW(std::vector<at::Tensor> parameters, const FusedAdamWOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  at::NoGradGuard guard;
  for (const at::Tensor& parameter : parameters_) {
    moments_.push_back({at::zeros_like(parameter), at::zeros_like(parameter),
                        at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false))});
  }
  if (!options_.scale_loss || parameters_.empty()) return;
  const auto number = at::TensorOptions().device(parameters_.front().device());
  scale_ = at::full({1}, first_scale, number.dtype(at::kFloat));
  growth_ = at::zeros({1}, number.dtype(at::kInt));
}

at::Tensor FusedAdamW::scaled(const at::Tensor& loss) const {
  return scale_.defined() ? loss * scale_.squeeze() : loss;
}

at::Tensor FusedAdamW::step(const at::Tensor& learning_rate) {
  at::NoGradGuard guard;
  std::vector<at::Tensor> parameters, gradients, first, second, steps;
  std::vector<double> factors;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    parameters.push_back(parameters_[i]);
    gradients.push_back(parameters_[i].grad());
    first.push_back(moments_[i].first);
    second.push_back(moments_[i].second);
    steps.push_back(moments_[i].steps);
    if (!options_.rate_factors.empty()) factors.push_back(options_.rate_factors.at(i));
    parameters_[i].mutable_grad().reset();
  }
  TORCH_CHECK(!gradients.empty(), "no parameter has a gradient");
  at::Tensor bad = at::zeros({1}, steps.front().options());
  if (scale_.defined()) at::_amp_foreach_non_finite_check_and_unscale_(gradients, bad, scale_.reciprocal());
  const at::Tensor norm = at::stack(at::_foreach_norm(gradients)).norm();
  bad = (bad > 0).logical_or(norm.isfinite().logical_not()).to(at::kFloat);
  if (options_.max_gradient_norm > 0) {
    at::_foreach_mul_(gradients, (options_.max_gradient_norm / (norm + 1e-6)).clamp_max(1.0));
  }
  at::_foreach_add_(steps, 1);
  const auto of_parameters = by_factor(parameters, factors), of_gradients = by_factor(gradients, factors);
  const auto of_first = by_factor(first, factors), of_second = by_factor(second, factors);
  const auto of_steps = by_factor(steps, factors);
  for (const auto& [factor, members] : of_parameters) {
    at::_fused_adamw_(members, of_gradients.at(factor), of_first.at(factor), of_second.at(factor), {},
                      of_steps.at(factor), factor == 1.0 ? learning_rate : learning_rate * factor, options_.beta1,
                      options_.beta2, options_.weight_decay, options_.eps, /*amsgrad=*/false, /*maximize=*/false,
                      /*grad_scale=*/std::nullopt, /*found_inf=*/bad);
  }
  at::_foreach_sub_(steps, std::vector<at::Tensor>(steps.size(), bad.squeeze()));
  if (scale_.defined()) at::_amp_update_scale_(scale_, growth_, bad, 2.0, 0.5, steps_to_growth);
  return norm;
}

}  // namespace geosft
