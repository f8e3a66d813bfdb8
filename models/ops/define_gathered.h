// SPDX-License-Identifier: Apache-2.0
// Registers the operators behind a public function whose arguments a struct gathers (gathered_operator.h).
#pragma once

#include <string>

#include "geometry/operators.h"
#include "models/ops/gathered_operator.h"

namespace geosft {

// Registers the public function, and the operators _<name>_forward and _<name>_backward with their kernels for meta
// tensors and for autograd. `Operator` is a GatheredOperator, `list` the list of arguments in the schema, `second` the
// name of the second tensor, and `gradients` the result of the backward operator.
template <class Operator, auto kForwardMeta, auto kBackwardMeta, auto kDifferentiable, class Function>
void define_gathered(torch::Library& m, const std::string& name, const std::string& list, const std::string& second,
                     const std::string& gradients, Function* function) {
  using Key = c10::DispatchKey;
  define_operator<Key::CompositeImplicitAutograd>(m, name + "(" + list + ") -> Tensor", function);
  define_operator<Key::Meta, Key::Autograd>(
      m, "_" + name + "_forward(" + list + ") -> (Tensor out, Tensor " + second + ")",
      Operator::template forward<kForwardMeta>, Operator::template forward<kDifferentiable>);
  define_operator<Key::Meta>(
      m, "_" + name + "_backward(Tensor grad, Tensor out, Tensor " + second + ", " + list + ") -> " + gradients,
      Operator::template backward<kBackwardMeta>);
}

}  // namespace geosft
