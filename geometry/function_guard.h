// SPDX-License-Identifier: Apache-2.0
// Lets the autograd functions of the operators run under torch.func transforms.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// LibTorch refuses autograd functions of C++ under torch.func transforms, because it cannot know at which level of the
// transforms they are applied. The kernel of an operator is called at one level, so in its body, and in the backward
// pass, they are correct: a guard permits them for its lifetime. `inputs` are the differentiable ones. Throws, naming
// the operator, if one of them has a forward-mode tangent, for which there is no formula.
class FunctionGuard {
 public:
  FunctionGuard(const char* op, at::TensorList inputs);
  ~FunctionGuard();
  FunctionGuard(const FunctionGuard&) = delete;
  FunctionGuard& operator=(const FunctionGuard&) = delete;

 private:
  bool transformed_, allowed_ = false;
};

// Throws, naming the operator, inside of a torch.func.vmap that does not permit random calls.
void check_random_in_vmap(const char* op);

}  // namespace geosft
