// SPDX-License-Identifier: Apache-2.0
#include "models/training/optimization.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "models/summary.h"
#include "models/training/host_copy.h"
#include "models/training/module_state.h"

namespace geosft {
namespace {

const at::Tensor& find(const std::map<std::string, at::Tensor>& state, const std::string& name) {
  const auto entry = state.find(name);
  TORCH_CHECK(entry != state.end(), "the saved optimiser state has no entry ", name);
  return entry->second;
}

// Returns whether a buffer is a running statistic of batch normalisation.
bool is_running_statistic(const std::string& name) {
  return name.ends_with("running_mean") || name.ends_with("running_var");
}

// Returns the entry of a saved state, for a tensor of these sizes.
const at::Tensor& find(const std::map<std::string, at::Tensor>& state, const std::string& name, at::IntArrayRef sizes) {
  const at::Tensor& source = find(state, name);
  TORCH_CHECK(source.sizes() == sizes, "the saved ", name, " has shape ", source.sizes(), ", the model needs ", sizes);
  return source;
}

}  // namespace

double scheduled_rate(const OptimizationOptions& options, int64_t step, double epoch) {
  constexpr double first_factor = 1e-6;
  const double warmup = options.warmup_epochs > 0
                            ? std::clamp(epoch / options.warmup_epochs, first_factor, 1.0)
                            : std::min(1.0, (1.0 - options.beta2) / 2.0 * static_cast<double>(step + 1));
  double factor = 1.0;
  if (options.schedule == Schedule::step) {
    TORCH_CHECK(options.decay_every >= 1, "decay_every must be at least 1, got ", options.decay_every);
    factor = std::pow(options.decay, std::floor(epoch / static_cast<double>(options.decay_every)));
  } else {
    const double falling = static_cast<double>(options.epochs) - options.warmup_epochs;
    const double done = falling > 0 ? std::clamp((epoch - options.warmup_epochs) / falling, 0.0, 1.0) : 0.0;
    factor = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return options.learning_rate * warmup * factor;
}

Optimization::Optimization(torch::nn::Module& module, const OptimizationOptions& options) : options_(options) {
  TORCH_CHECK(options.head_rate_factor > 0, "head_rate_factor must be positive, got ", options.head_rate_factor);
  std::vector<double> factors;
  for (const auto& item : module.named_parameters()) {
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    factors.push_back(is_of_head(item.key()) ? options.head_rate_factor : 1.0);
    if (options.average_decay > 0) averages_.push_back({item.key(), item.value(), item.value().detach().clone()});
  }
  for (const auto& item : module.named_buffers()) {
    if (options.average_decay > 0 && is_running_statistic(item.key())) {
      averages_.push_back({item.key(), item.value(), item.value().clone()});
    }
  }
  if (options.fused) {
    fused_ = std::make_unique<FusedAdamW>(parameters_, FusedAdamWOptions{.beta1 = options.beta1,
                                                                         .beta2 = options.beta2,
                                                                         .weight_decay = options.weight_decay,
                                                                         .max_gradient_norm = options.max_gradient_norm,
                                                                         .scale_loss = options.scale_loss,
                                                                         .rate_factors = factors});
    numbers_ = at::zeros({2}, at::TensorOptions().dtype(at::kFloat).device(device_of(module)));
    return;
  }
  std::vector<torch::optim::OptimizerParamGroup> groups;
  for (const auto& [factor, members] : by_factor(parameters_, factors)) {
    groups.emplace_back(members);
    group_factors_.push_back(factor);
  }
  optimizer_ = std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(options.learning_rate)
                                                                 .betas({options.beta1, options.beta2})
                                                                 .weight_decay(options.weight_decay));
}

at::Tensor Optimization::enqueue(double epoch) {
  if (!fused_) return at::scalar_tensor(step(epoch), at::kDouble);
  begin_step(epoch);
  return apply();
}

void Optimization::begin_step(double epoch) {
  TORCH_CHECK(fused_, "begin_step is of fused steps");
  rate_ = scheduled_rate(options_, steps_++, epoch);
  copy_without_waiting(at::tensor({rate_, average_weight()}, at::kFloat), numbers_);
}

at::Tensor Optimization::apply() {
  TORCH_CHECK(fused_, "apply is of fused steps");
  at::NoGradGuard guard;
  const at::Tensor norm = fused_->step(numbers_[0]);
  for (const Average& average : averages_) {
    average.mean.lerp_(average.current, numbers_[1].to(average.mean.scalar_type()));
  }
  return norm;
}

double Optimization::step(double epoch) {
  if (fused_) return enqueue(epoch).item<double>();
  const double limit =
      options_.max_gradient_norm > 0 ? options_.max_gradient_norm : std::numeric_limits<double>::infinity();
  const double norm = torch::nn::utils::clip_grad_norm_(parameters_, limit);
  if (std::isfinite(norm)) {
    rate_ = scheduled_rate(options_, steps_, epoch);
    for (size_t i = 0; i < group_factors_.size(); ++i) {
      static_cast<torch::optim::AdamWOptions&>(optimizer_->param_groups()[i].options()).lr(rate_ * group_factors_[i]);
    }
    optimizer_->step();
    ++steps_;
    at::NoGradGuard guard;
    for (const Average& average : averages_) average.mean.lerp_(average.current, average_weight());
  }
  optimizer_->zero_grad();
  return norm;
}

double Optimization::average_weight() const {
  // The decay of the average is faster in early steps.
  const double n = static_cast<double>(steps_);
  return 1.0 - std::min(options_.average_decay, (1.0 + n) / (10.0 + n));
}

void Optimization::swap_average() {
  at::NoGradGuard guard;
  for (const Average& average : averages_) {
    const at::Tensor current = average.current.detach().clone();
    average.current.copy_(average.mean);
    average.mean.copy_(current);
  }
}

Optimization::AveragedWeights::AveragedWeights(Optimization& owner) : owner_(owner) {
  owner_.swap_average();
}
Optimization::AveragedWeights::~AveragedWeights() {
  owner_.swap_average();
}

FusedAdamW::Moments Optimization::moments(size_t i) const {
  if (fused_) return steps_ > 0 ? fused_->moments()[i] : FusedAdamW::Moments();
  const auto entry = optimizer_->state().find(parameters_[i].unsafeGetTensorImpl());
  if (entry == optimizer_->state().end()) return {};
  const auto& adam = static_cast<const torch::optim::AdamWParamState&>(*entry->second);
  return {adam.exp_avg(), adam.exp_avg_sq(), {}};
}

FusedAdamW::Moments Optimization::new_moments(size_t i) {
  if (fused_) {
    return fused_->moments()[i];
  }
  auto adam = std::make_unique<torch::optim::AdamWParamState>();
  adam->step(steps_);
  adam->exp_avg(at::zeros_like(parameters_[i]));
  adam->exp_avg_sq(at::zeros_like(parameters_[i]));
  const FusedAdamW::Moments made{adam->exp_avg(), adam->exp_avg_sq(), {}};
  optimizer_->state()[parameters_[i].unsafeGetTensorImpl()] = std::move(adam);
  return made;
}

std::map<std::string, at::Tensor> Optimization::state() const {
  std::map<std::string, at::Tensor> saved{{"steps", at::tensor(steps_, at::kLong)},
                                          {"learning_rate", at::tensor(rate_, at::kDouble)}};
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (const FusedAdamW::Moments held = moments(i); held.first.defined()) {
      saved["first_moment." + names_[i]] = held.first;
      saved["second_moment." + names_[i]] = held.second;
    }
  }
  for (const Average& average : averages_) saved["average." + average.name] = average.mean;
  if (fused_) saved["applied_steps"] = fused_->moments().front().steps;
  if (fused_ && fused_->loss_scale().defined()) {
    saved["loss_scale"] = fused_->loss_scale();
    saved["loss_scale_growth"] = fused_->scale_growth();
  }
  return saved;
}

void Optimization::load_state(const std::map<std::string, at::Tensor>& state) {
  at::NoGradGuard guard;
  // Finds all entries before it copies the first: a state that does not fit changes nothing.
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;  // target and source
  const auto steps = find(state, "steps").item<int64_t>();
  const auto rate = find(state, "learning_rate").item<double>();
  for (const Average& average : averages_) {
    const bool absent = is_running_statistic(average.name) && !state.contains("average." + average.name);
    copies.emplace_back(average.mean,
                        absent ? average.current : find(state, "average." + average.name, average.mean.sizes()));
  }
  std::vector<std::pair<at::Tensor, at::Tensor>> moments(parameters_.size());  // undefined without a gradient so far
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const std::string first = "first_moment." + names_[i], second = "second_moment." + names_[i];
    if (!state.contains(first) && !state.contains(second)) continue;
    moments[i] = {find(state, first, parameters_[i].sizes()), find(state, second, parameters_[i].sizes())};
  }
  // A run that continues in float16 after another precision starts with the initial loss scale.
  if (fused_ && fused_->loss_scale().defined() && state.contains("loss_scale")) {
    copies.emplace_back(fused_->loss_scale(), find(state, "loss_scale", fused_->loss_scale().sizes()));
    copies.emplace_back(fused_->scale_growth(), find(state, "loss_scale_growth", fused_->scale_growth().sizes()));
  }
  steps_ = steps;
  rate_ = rate;
  for (const auto& [target, source] : copies) target.copy_(source);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (optimizer_) optimizer_->state().erase(parameters_[i].unsafeGetTensorImpl());
    if (!moments[i].first.defined()) continue;
    const FusedAdamW::Moments held = new_moments(i);
    held.first.copy_(moments[i].first);
    held.second.copy_(moments[i].second);
    const auto applied = state.find("applied_steps");  // absent from states of steps that were not fused
    if (fused_) held.steps.copy_(applied == state.end() ? at::scalar_tensor(steps_) : applied->second);
  }
}

}  // namespace geosft
