// SPDX-License-Identifier: Apache-2.0
#include "models/layers/linear.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>

#include <c10/util/string_view.h>
#include <optional>

namespace geosft {
namespace {

using FusedLinear = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, c10::string_view,
                               c10::List<std::optional<at::Scalar>>, std::optional<c10::string_view>);

// LibTorch's linear map by oneDNN with an activation, which torch.compile calls, too; none where LibTorch lacks it.
const std::optional<c10::TypedOperatorHandle<FusedLinear>>& fused_linear() {
  static const auto found = []() -> std::optional<c10::TypedOperatorHandle<FusedLinear>> {
    if (!at::hasMKLDNN()) return std::nullopt;
    const auto schema = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
    if (!schema || !schema->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
    return schema->typed<FusedLinear>();
  }();
  return found;
}

struct VectorUnits {
  bool avx2 = false, bfloat16 = false;
};

const VectorUnits& vector_units() {
#if defined(__x86_64__)
  static const VectorUnits found{__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("avx512bf16") != 0};
#else
  static const VectorUnits found;
#endif
  return found;
}

// Returns the type to compute in by oneDNN; none where LibTorch's own linear map is to be used.
std::optional<at::ScalarType> fused_type(const at::Tensor& x, const at::Tensor& weight) {
  if (at::GradMode::is_enabled() || !x.device().is_cpu() || !weight.device().is_cpu() || x.numel() == 0) return {};
  if (weight.scalar_type() != at::kFloat || !vector_units().avx2 || !at::globalContext().userEnabledMkldnn()) return {};
  const bool autocast = at::autocast::is_autocast_enabled(at::kCPU);
  const at::ScalarType requested = autocast ? at::autocast::get_autocast_dtype(at::kCPU) : at::kFloat;
  const bool floating = x.scalar_type() == at::kFloat || (autocast && x.scalar_type() == requested);
  if (!floating || !fused_linear()) return {};
  if (requested == at::kFloat || (requested == at::kBFloat16 && bfloat16_on_cpu())) return requested;
  return {};
}

at::Tensor activated(Activation activation, const at::Tensor& x) {
  if (activation == Activation::gelu) return at::gelu(x);
  return activation == Activation::relu ? at::relu(x) : x;
}

}  // namespace

bool bfloat16_on_cpu() {
  return vector_units().bfloat16;
}

at::Tensor apply_linear(torch::nn::Linear& linear, const at::Tensor& x, Activation activation) {
  const at::Tensor &weight = linear->weight, &bias = linear->bias;
  const bool fits = x.dim() >= 1 && x.size(-1) == weight.size(1);
  const auto type = fits ? fused_type(x, weight) : std::nullopt;
  if (!type) return activated(activation, linear->forward(x));
  // Under autocast, the converted weights are kept until it ends.
  const auto typed = [&](const at::Tensor& map) {
    return map.defined() ? at::autocast::cached_cast(*type, map, c10::DeviceType::CPU) : map;
  };
  const at::Tensor maps = typed(weight), offsets = typed(bias);
  // The relu of oneDNN makes 0 of NaN.
  const at::Tensor out = fused_linear()->call(
      x.to(*type), maps, offsets.defined() ? std::optional(offsets) : std::nullopt,
      activation == Activation::gelu ? "gelu" : "none", c10::List<std::optional<at::Scalar>>(), "none");
  return activation == Activation::relu ? out.relu_() : out;
}

}  // namespace geosft
