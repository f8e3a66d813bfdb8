// SPDX-License-Identifier: Apache-2.0
// Gathers the arguments of a public operator with many of them in a struct, so that their list is declared once: the
// signatures and the kernels of the operators behind it follow from its C++ function.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

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
};

}  // namespace geosft
