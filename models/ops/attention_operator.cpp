// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_operator.h"

#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

OptionalTensors optional_tensors(at::TensorList tensors) {
  OptionalTensors list;
  for (const at::Tensor& tensor : tensors) list.push_back(if_defined(tensor));
  return list;
}

// Returns the mask of the floating inputs, which autograd tracks in their order.
c10::List<bool> output_mask_of(const AutogradContext& context, at::TensorList inputs) {
  c10::List<bool> output_mask;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && input.is_floating_point())
      output_mask.push_back(context.needs_input_grad(output_mask.size()));
  }
  return output_mask;
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  // `floating` are the inputs that may have gradients: autograd tracks only these.
  static variable_list forward(AutogradContext* context, const std::string& op, const AttentionForwardHandle& attention,
                               const AttentionInputs& in, at::TensorList /*floating*/) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, denominator] = attention.call(optional_tensors(in.tensors), in.eps);
    variable_list saved{out, denominator};
    saved.insert(saved.end(), in.tensors.begin(), in.tensors.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["op"] = op;
    context->saved_data["eps"] = in.eps;
    return forward_results(context, out, denominator);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    if (!grads[0].defined()) return variable_list(saved.size());  // at least one element for each input
    const std::string& op = context->saved_data["op"].toStringRef();
    const auto attention = find_operator<AttentionBackward>(backward_name(op).c_str());
    const at::TensorList inputs = at::TensorList(saved).slice(2);
    variable_list from(inputs.begin(), inputs.end());
    from.push_back(grads[0]);
    const c10::List<bool> output_mask = output_mask_of(*context, inputs);
    variable_list gradients = once_differentiable(op, from, [&] {
      return attention.call(grads[0], saved[0], saved[1], optional_tensors(inputs),
                            context->saved_data["eps"].toDouble(), output_mask);
    });
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!output_mask.get(i)) gradients[i] = at::Tensor();
    }
    gradients.insert(gradients.begin(), 3, at::Tensor());  // no gradients for the arguments before `floating`
    return gradients;
  }
};

}  // namespace

std::tuple<at::Tensor, at::Tensor> differentiable_attention(const char* op, const AttentionForwardHandle& forward,
                                                            const OptionalTensors& inputs, double eps) {
  const AttentionInputs in(inputs, eps);
  std::vector<at::Tensor> floating;
  for (const at::Tensor& tensor : in.tensors) {
    if (tensor.defined() && tensor.is_floating_point()) floating.push_back(tensor);
  }
  check_transforms(op, floating);
  const variable_list results = AttentionFunction::apply(std::string(op), forward, in, at::TensorList(floating));
  return {results[0], results[1]};
}

std::tuple<at::Tensor, at::Tensor> empty_attention(const AttentionInputs& in) {
  const at::Tensor& q = in.q();
  return {at::empty_symint({q.sym_size(0), q.sym_size(1), in.v().sym_size(2)}, q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1)}, q.options().dtype(at::toOpMathType(q.scalar_type())))};
}

std::vector<at::Tensor> empty_gradients(const AttentionInputs& in, const OutputMask& output_mask) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& input : in.tensors) {
    if (!input.defined() || !input.is_floating_point()) continue;
    gradients.push_back(at::empty_symint(input.sym_sizes(), input.options()));
  }
  output_mask.leave_out(gradients);
  return gradients;
}

}  // namespace geosft
