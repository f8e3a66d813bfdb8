// SPDX-License-Identifier: Apache-2.0
#include "models/layers/normalization.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <memory>
#include <utility>

#include "models/layers/statistics_reducer.h"
#include "models/ops/column_sums.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Carries the reducer from the forward to the backward pass.
struct ReducerCapsule : torch::CustomClassHolder {
  explicit ReducerCapsule(std::shared_ptr<StatisticsReducer> held) : reducer(std::move(held)) {}
  std::shared_ptr<StatisticsReducer> reducer;
};

// Returns x * scale + shift with float64 coefficients per channel.
at::Tensor scaled(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift) {
  return at::addcmul(shift.to(x.scalar_type()), x, scale.to(x.scalar_type()));
}

// Results: the normalised rows; mean and biased variance of the batch, float64 [channels]; the number of its rows.
struct NormalizeBatch : torch::autograd::Function<NormalizeBatch> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, double eps, const std::shared_ptr<StatisticsReducer>& reducer) {
    const int64_t channels = x.size(1);
    at::Tensor sums = column_sums(x, x).flatten();
    sums = at::cat({sums, at::full({1}, static_cast<double>(x.size(0)), sums.options())});
    if (reducer) sums = reducer->sum(sums);
    const at::Tensor count = sums[2 * channels].clamp_min(1.0);
    const at::Tensor mean = sums.slice(0, 0, channels) / count;
    const at::Tensor variance = (sums.slice(0, channels, 2 * channels) / count - mean.square()).clamp_min(0.0);
    const at::Tensor inverse = (variance + eps).rsqrt(), scale = weight * inverse;
    context->save_for_backward({x, weight});
    context->saved_data["mean"] = mean;
    context->saved_data["inverse"] = inverse;
    context->saved_data["count"] = count;
    context->saved_data["reducer"] = c10::IValue::make_capsule(c10::make_intrusive<ReducerCapsule>(reducer));
    context->mark_non_differentiable({mean, variance, count});
    return {scaled(x, scale, bias - mean * scale), mean, variance, count};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list s = context->get_saved_variables();
    const auto saved = [&](const char* name) { return context->saved_data[name].toTensor(); };
    const at::Tensor mean = saved("mean"), inverse = saved("inverse"), count = saved("count");
    const auto capsule = c10::static_intrusive_pointer_cast<ReducerCapsule>(context->saved_data["reducer"].toCapsule());
    variable_list gradients = once_differentiable("PackedBatchNorm", {grads[0], s[0], s[1]}, [&] {
      const at::Tensor sums = column_sums(grads[0], s[0]);
      const at::Tensor bias_grad = sums[0], weight_grad = inverse * (sums[1] - mean * sums[0]);
      at::Tensor all = at::stack({bias_grad, weight_grad});
      if (capsule->reducer) all = capsule->reducer->sum_of_gradients(all);
      // d x = w / sigma (g - mean(g) - x^ mean(g x^)) with x^ = (x - mean) / sigma, as a g + b x + c
      const at::Tensor a = s[1] * inverse, b = -a * inverse * all[1] / count, c = -a * all[0] / count - b * mean;
      const at::Tensor x_grad = scaled(grads[0], a, c).addcmul_(s[0], b.to(s[0].scalar_type()));
      return variable_list{x_grad, weight_grad.to(s[1].scalar_type()), bias_grad.to(s[1].scalar_type())};
    });
    gradients.resize(5);  // none for eps and the reducer
    return gradients;
  }
};

}  // namespace

PackedBatchNormImpl::PackedBatchNormImpl(int64_t channels, double momentum, double eps)
    : momentum_(momentum), eps_(eps) {
  TORCH_CHECK(channels >= 1, "channels must be at least 1, got ", channels);
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
  running_mean = register_buffer("running_mean", at::zeros({channels}));
  running_var = register_buffer("running_var", at::ones({channels}));
}

at::Tensor PackedBatchNormImpl::forward(const at::Tensor& x, SamplingContext& context) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == weight.size(0) && x.scalar_type() == weight.scalar_type(), "x must be [n, ",
              weight.size(0), "] of ", weight.scalar_type(), ", got ", x.scalar_type(), " ", x.sizes());
  if (!is_training()) {
    const at::Tensor inverse = (running_var + eps_).rsqrt(), scale = weight * inverse, reach = kMaxNormalized / inverse;
    const at::Tensor limited = at::clamp(x, running_mean - reach, running_mean + reach);
    return at::addcmul(bias - running_mean * scale, limited, scale);
  }
  const variable_list results = NormalizeBatch::apply(x, weight, bias, eps_, context.statistics());
  const at::NoGradGuard guard;
  const at::Tensor &mean = results[1], &count = results[3];
  const at::Tensor variance = results[2] * (count / (count - 1).clamp_min(1.0));
  const at::Tensor usable = mean.isfinite().all().logical_and(variance.isfinite().all());
  const auto average = [&](const at::Tensor& running, const at::Tensor& of_batch) {
    running.lerp_(at::where(usable, of_batch.to(running.scalar_type()), running), momentum_);
  };
  average(running_mean, mean);
  average(running_var, variance);
  return results[0];
}

int64_t batch_norm_count(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& part : module.modules()) count += part->as<PackedBatchNorm>() != nullptr ? 1 : 0;
  return count;
}

Normalization::Normalization(torch::nn::Module& owner, const std::string& name, NormKind kind, int64_t channels) {
  if (kind == NormKind::layer) {
    layer = owner.register_module(name, torch::nn::LayerNorm(torch::nn::LayerNormOptions({channels})));
  } else if (kind == NormKind::batch) {
    batch = owner.register_module(name, PackedBatchNorm(channels));
  }
}

at::Tensor Normalization::operator()(const at::Tensor& x, SamplingContext& context) {
  if (!layer.is_empty()) return layer->forward(x);
  return batch.is_empty() ? x : batch->forward(x, context);
}

}  // namespace geosft
