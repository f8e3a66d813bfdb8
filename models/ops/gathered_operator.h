// SPDX-License-Identifier: Apache-2.0
// Gathers the arguments of a public operator with many of them in a struct, so that their list is declared once: the
// signatures and the kernels of the operators behind it follow from its C++ function.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <tuple>

#include "geometry/operators.h"

namespace geosft {

// `Function` is the type of the public function. `Arguments` has its arguments as members, in order, and
//   check()    throws an error naming the argument unless they are valid
//   apply(f)   returns f(all members, in order)
template <class Arguments, class Function>
struct GatheredOperator;

template <class Arguments, class Result, class... A>
struct GatheredOperator<Arguments, Result(A...)> {
  // The forward operator returns the result, and a second tensor for the backward operator, which returns `Gradients`.
  using Forward = std::tuple<at::Tensor, at::Tensor>(A...);
  template <class Gradients>
  using Backward = Gradients(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& second, A...);

  // Kernels in the form that the dispatcher calls: they check the arguments and call kKernel(arguments).
  template <auto kKernel>
  static std::tuple<at::Tensor, at::Tensor> forward(A... all) {
    const Arguments arguments{all...};
    arguments.check();
    return kKernel(arguments);
  }
  template <auto kKernel>
  static auto backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& second, A... all) {
    const Arguments arguments{all...};
    arguments.check();
    return kKernel(grad, out, second, arguments);
  }

  // Registers the public function, and the operators _<name>_forward and _<name>_backward with their kernels for meta
  // tensors and for autograd. `list` is the list of arguments in the schema, `second` the name of the second tensor,
  // and `gradients` the result of the backward operator.
  template <auto kForwardMeta, auto kBackwardMeta, auto kDifferentiable>
  static void define(torch::Library& m, const std::string& name, const std::string& list, const std::string& second,
                     const std::string& gradients, Result (*function)(A...)) {
    using Key = c10::DispatchKey;
    define_operator<Key::CompositeImplicitAutograd>(m, name + "(" + list + ") -> Tensor", function);
    define_operator<Key::Meta, Key::Autograd>(
        m, "_" + name + "_forward(" + list + ") -> (Tensor out, Tensor " + second + ")", forward<kForwardMeta>,
        forward<kDifferentiable>);
    define_operator<Key::Meta>(
        m, "_" + name + "_backward(Tensor grad, Tensor out, Tensor " + second + ", " + list + ") -> " + gradients,
        backward<kBackwardMeta>);
  }
};

}  // namespace geosft
