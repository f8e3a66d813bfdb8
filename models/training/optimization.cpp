// SPDX-License-Identifier: Apache-2.0
#include "models/training/optimization.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace geosft {
namespace {

const at::Tensor& find(const std::map<std::string, at::Tensor>& state, const std::string& name) {
  const auto entry = state.find(name);
  TORCH_CHECK(entry != state.end(), "the saved optimiser state has no entry ", name);
  return entry->second;
}

void copy_into(at::Tensor target, const std::map<std::string, at::Tensor>& state, const std::string& name) {
  const at::Tensor& source = find(state, name);
  TORCH_CHECK(source.sizes() == target.sizes(), "the saved ", name, " has shape ", source.sizes(), ", the model needs ",
              target.sizes());
  target.copy_(source);
}

}  // namespace

double scheduled_rate(const OptimizationOptions& options, int64_t step, double epoch) {
  const double warmup = std::min(1.0, (1.0 - options.beta2) / 2.0 * static_cast<double>(step + 1));
  double factor = 1.0;
  if (options.schedule == Schedule::step) {
    factor = std::pow(options.decay, std::floor(epoch / static_cast<double>(options.decay_every)));
  } else {
    const double done = std::clamp(epoch / static_cast<double>(options.epochs), 0.0, 1.0);
    factor = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return options.learning_rate * warmup * factor;
}

Optimization::Optimization(torch::nn::Module& module, const OptimizationOptions& options) : options_(options) {
  for (const auto& item : module.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    if (options.average_decay > 0) average_.push_back(item.value().detach().clone());
  }
  optimizer_ = std::make_unique<torch::optim::AdamW>(parameters_, torch::optim::AdamWOptions(options.learning_rate)
                                                                      .betas({options.beta1, options.beta2})
                                                                      .weight_decay(options.weight_decay));
}

double Optimization::step(double epoch) {
  const double limit =
      options_.max_gradient_norm > 0 ? options_.max_gradient_norm : std::numeric_limits<double>::infinity();
  const double norm = torch::nn::utils::clip_grad_norm_(parameters_, limit);
  if (std::isfinite(norm)) {
    rate_ = scheduled_rate(options_, steps_, epoch);
    static_cast<torch::optim::AdamWOptions&>(optimizer_->param_groups()[0].options()).lr(rate_);
    optimizer_->step();
    ++steps_;
    update_average();
  }
  optimizer_->zero_grad();
  return norm;
}

void Optimization::update_average() {
  at::NoGradGuard guard;
  // A young average forgets its beginning faster.
  const double n = static_cast<double>(steps_);
  const double keep = std::min(options_.average_decay, (1.0 + n) / (10.0 + n));
  for (size_t i = 0; i < average_.size(); ++i) average_[i].lerp_(parameters_[i], 1.0 - keep);
}

void Optimization::swap_average() {
  at::NoGradGuard guard;
  for (size_t i = 0; i < average_.size(); ++i) {
    const at::Tensor current = parameters_[i].detach().clone();
    parameters_[i].copy_(average_[i]);
    average_[i].copy_(current);
  }
}

Optimization::AveragedWeights::AveragedWeights(Optimization& owner) : owner_(owner) {
  owner_.swap_average();
}
Optimization::AveragedWeights::~AveragedWeights() {
  owner_.swap_average();
}

std::map<std::string, at::Tensor> Optimization::state() const {
  std::map<std::string, at::Tensor> saved{{"steps", at::tensor(steps_, at::kLong)},
                                          {"learning_rate", at::tensor(rate_, at::kDouble)}};
  const auto& states = optimizer_->state();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto entry = states.find(parameters_[i].unsafeGetTensorImpl());
    if (entry != states.end()) {
      const auto& adam = static_cast<const torch::optim::AdamWParamState&>(*entry->second);
      saved["first_moment." + names_[i]] = adam.exp_avg();
      saved["second_moment." + names_[i]] = adam.exp_avg_sq();
    }
    if (!average_.empty()) saved["average." + names_[i]] = average_[i];
  }
  return saved;
}

void Optimization::load_state(const std::map<std::string, at::Tensor>& state) {
  at::NoGradGuard guard;
  steps_ = find(state, "steps").item<int64_t>();
  rate_ = find(state, "learning_rate").item<double>();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!average_.empty()) copy_into(average_[i], state, "average." + names_[i]);
    optimizer_->state().erase(parameters_[i].unsafeGetTensorImpl());
    // A parameter that never had a gradient has no moments.
    if (state.count("first_moment." + names_[i]) + state.count("second_moment." + names_[i]) == 0) continue;
    auto adam = std::make_unique<torch::optim::AdamWParamState>();
    adam->step(steps_);
    adam->exp_avg(at::zeros_like(parameters_[i]));
    adam->exp_avg_sq(at::zeros_like(parameters_[i]));
    copy_into(adam->exp_avg(), state, "first_moment." + names_[i]);
    copy_into(adam->exp_avg_sq(), state, "second_moment." + names_[i]);
    optimizer_->state()[parameters_[i].unsafeGetTensorImpl()] = std::move(adam);
  }
}

}  // namespace geosft
