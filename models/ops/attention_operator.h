// SPDX-License-Identifier: Apache-2.0
// Composes an attention operator from its forward and backward operators. geosft::<op> takes its arguments one by one
// and passes them as a list to
//   geosft::_<op>_forward(Tensor?[] inputs, float eps) -> (Tensor out, Tensor denominator)
//   geosft::_<op>_backward(Tensor grad, Tensor out, Tensor denominator, Tensor?[] inputs, float eps,
//                          bool[] output_mask) -> Tensor[]
// which devices implement. The backward operator returns a gradient for each floating input that is given, in order: an
// empty tensor for inputs of the attention bias whose gradient is not requested. `Inputs` is a type derived from
// AttentionInputs.
#pragma once

#include <torch/library.h>

#include <initializer_list>
#include <string>
#include <tuple>

#include "geometry/operators.h"
#include "models/ops/attention_inputs.h"

namespace geosft {

using AttentionForward = std::tuple<at::Tensor, at::Tensor>(const OptionalTensors&, double);
using AttentionBackward = std::vector<at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                  const OptionalTensors&, double, const c10::List<bool>& output_mask);
using AttentionForwardHandle = c10::TypedOperatorHandle<AttentionForward>;

inline std::string forward_name(const std::string& op) {
  return "_" + op + "_forward";
}
inline std::string backward_name(const std::string& op) {
  return "_" + op + "_backward";
}

// Finds the operator. Hidden, because every copy of the library has its own handles.
template <class Inputs>
[[gnu::visibility("hidden")]] const AttentionForwardHandle& forward_operator() {
  static const auto op = find_operator<AttentionForward>(forward_name(Inputs::kOperator).c_str());
  return op;
}

// Calls the operator with its tensor arguments in the order of its schema.
template <class Inputs>
at::Tensor attend(std::initializer_list<std::optional<at::Tensor>> tensors, double eps) {
  return std::get<0>(forward_operator<Inputs>().call(OptionalTensors(tensors), eps));
}

// Return uninitialised outputs and gradients, for the kernels of meta tensors.
std::tuple<at::Tensor, at::Tensor> empty_attention(const AttentionInputs& in);
std::vector<at::Tensor> empty_gradients(const AttentionInputs& in, const OutputMask& output_mask);

template <class Inputs>
std::tuple<at::Tensor, at::Tensor> attention_forward_meta(const OptionalTensors& inputs, double eps) {
  const Inputs in(inputs, eps);
  in.check();
  return empty_attention(in);
}

template <class Inputs>
std::vector<at::Tensor> attention_backward_meta(const at::Tensor& grad, const at::Tensor& out,
                                                const at::Tensor& denominator, const OptionalTensors& inputs,
                                                double eps, const c10::List<bool>& output_mask) {
  const Inputs in(inputs, eps);
  in.check();
  check_grad_output(grad, out, denominator, in.q(), in.v());
  return empty_gradients(in, OutputMask(output_mask, in));
}

// Calls the forward operator of geosft::<op>, recorded by autograd.
std::tuple<at::Tensor, at::Tensor> differentiable_attention(const char* op, const AttentionForwardHandle& forward,
                                                            const OptionalTensors& inputs, double eps);

template <class Inputs>
std::tuple<at::Tensor, at::Tensor> attention_forward_autograd(const OptionalTensors& inputs, double eps) {
  return differentiable_attention(Inputs::kOperator, forward_operator<Inputs>(), inputs, eps);
}

// Registers geosft::<op>, which `function` composes for every device, and the two operators behind it, with their
// kernels for meta tensors and for autograd.
template <class Inputs, class Function>
void define_attention(torch::Library& m, const char* schema, Function* function) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  const std::string forward = forward_name(Inputs::kOperator), backward = backward_name(Inputs::kOperator);
  m.def(schema, tags);
  m.def((forward + "(Tensor?[] inputs, float eps) -> (Tensor out, Tensor denominator)").c_str(), tags);
  m.def((backward +
         "(Tensor grad, Tensor out, Tensor denominator, Tensor?[] inputs, float eps, bool[] output_mask) -> Tensor[]")
            .c_str(),
        tags);
  const auto implement = [&](const char* name, c10::DispatchKey key, auto* kernel) {
    m.impl(name, torch::dispatch(key, kernel));
  };
  implement(Inputs::kOperator, c10::DispatchKey::CompositeImplicitAutograd, function);
  implement(forward.c_str(), c10::DispatchKey::Meta, attention_forward_meta<Inputs>);
  implement(backward.c_str(), c10::DispatchKey::Meta, attention_backward_meta<Inputs>);
  implement(forward.c_str(), c10::DispatchKey::Autograd, attention_forward_autograd<Inputs>);
}

}  // namespace geosft
