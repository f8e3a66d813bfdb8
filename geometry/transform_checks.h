// SPDX-License-Identifier: Apache-2.0
// Errors of operators under torch.func transforms.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// Throws, naming the operator, where its autograd function cannot be applied: under torch.func.grad, vjp, jvp and what
// is made of them (jacrev, jacfwd, hessian), since LibTorch refuses autograd functions of C++ there, and if one of
// `inputs` has a forward-mode tangent. torch.func.vmap calls an operator below the transforms.
void check_transforms(const char* op, at::TensorList inputs);

// Throws, naming the operator, inside of a torch.func.vmap that does not permit random calls.
void check_random_in_vmap(const char* op);

}  // namespace geosft
