// SPDX-License-Identifier: Apache-2.0
// Composes an attention operator from its forward and backward operators. geosft::<op> takes its arguments one by one
// and passes them as a list to
//   geosft::_<op>_forward(Tensor?[] inputs, float eps) -> (Tensor out, Tensor denominator)
//   geosft::_<op>_backward(Tensor grad, Tensor out, Tensor denominator, Tensor?[] inputs, float eps, bool[] wanted)
//     -> Tensor[]
// which devices implement. The backward operator returns a gradient for each floating input that is given, in order: an
// empty tensor for inputs of the attention bias whose gradient is not requested.
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>

#include "geometry/operators.h"
#include "models/ops/attention_checks.h"
#include "models/ops/attention_inputs.h"

namespace geosft {

using AttentionForward = std::tuple<at::Tensor, at::Tensor>(const OptionalTensors&, double);
using AttentionBackward = std::vector<at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                  const OptionalTensors&, double, const c10::List<bool>& output_mask);

template <class Inputs>
std::string forward_name() {
  return c10::str("_", Inputs::kOperator, "_forward");
}
template <class Inputs>
std::string backward_name() {
  return c10::str("_", Inputs::kOperator, "_backward");
}

// Hidden: every copy of the library has its own handles.
template <class Inputs>
[[gnu::visibility("hidden")]] const c10::TypedOperatorHandle<AttentionForward>& forward_operator() {
  static const auto op = find_operator<AttentionForward>(forward_name<Inputs>().c_str());
  return op;
}
template <class Inputs>
[[gnu::visibility("hidden")]] const c10::TypedOperatorHandle<AttentionBackward>& backward_operator() {
  static const auto op = find_operator<AttentionBackward>(backward_name<Inputs>().c_str());
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

// Registers the two operators behind geosft::<op>.
template <class Inputs>
void define_attention(torch::Library& m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  m.def((forward_name<Inputs>() + "(Tensor?[] inputs, float eps) -> (Tensor out, Tensor denominator)").c_str(), tags);
  m.def((backward_name<Inputs>() +
         "(Tensor grad, Tensor out, Tensor denominator, Tensor?[] inputs, float eps, bool[] wanted) -> Tensor[]")
            .c_str(),
        tags);
}
template <class Inputs>
void implement_attention_meta(torch::Library& m) {
  m.impl(forward_name<Inputs>().c_str(), attention_forward_meta<Inputs>);
  m.impl(backward_name<Inputs>().c_str(), attention_backward_meta<Inputs>);
}

}  // namespace geosft
