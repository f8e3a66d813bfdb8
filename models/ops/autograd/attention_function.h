// SPDX-License-Identifier: Apache-2.0
// What the autograd functions of the attention operators share.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <functional>
#include <optional>

#include "models/ops/attention_checks.h"
#include "models/ops/autograd/double_backward.h"
#include "models/ops/dispatch.h"

namespace geosft {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Optional = std::optional<at::Tensor>;

// A saved tensor as an optional argument again.
inline Optional present(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}

// `tensors` are the output, the denominator, then the inputs in the order of the operator; absent ones may be among
// them.
inline void save_attention(AutogradContext* context, const std::vector<Optional>& tensors, double eps) {
  variable_list saved;
  for (const Optional& tensor : tensors) saved.push_back(given(tensor) ? *tensor : at::Tensor());
  context->save_for_backward(std::move(saved));
  context->saved_data["eps"] = eps;
}

// One entry per argument of the operator. `saved` are the output, the denominator, then its tensor arguments, of which
// q_ptr and k_ptr are the last; `compute` returns a gradient for every one that is not an index, in their order.
inline variable_list attention_gradients(const char* op, const at::Tensor& grad, const variable_list& saved,
                                         const std::function<std::vector<at::Tensor>(const at::Tensor&)>& compute) {
  const variable_list arguments(saved.begin() + 2, saved.end());
  variable_list from = arguments;
  from.push_back(grad);
  const variable_list computed = refuse_double_backward(op, from, [&] { return compute(grad); });
  variable_list gradients(arguments.size() + 1);  // none for eps
  size_t next = 0;
  for (size_t i = 0; i + 2 < arguments.size(); ++i) {
    const bool index = arguments[i].defined() && !arguments[i].is_floating_point();
    if (index) continue;
    if (arguments[i].defined()) gradients[i] = computed.at(next);
    ++next;
  }
  return gradients;
}

}  // namespace geosft
