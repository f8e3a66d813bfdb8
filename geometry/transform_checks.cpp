// SPDX-License-Identifier: Apache-2.0
#include "geometry/transform_checks.h"

#include <ATen/FuncTorchTLS.h>
#include <ATen/functorch/DynamicLayer.h>

namespace geosft {
namespace {

// Asking for the transforms themselves would create the state of a thread that has none.
bool is_transformed() {
  return at::functorch::functorchTLSAccessor() != nullptr && !at::functorch::getDynamicLayerStack().empty();
}

}  // namespace

void check_transforms(const char* op, at::TensorList inputs) {
  bool supported = !is_transformed();
  for (const at::Tensor& input : inputs) {
    supported = supported && !(input.defined() && input._fw_grad(/*level=*/0).defined());
  }
  TORCH_CHECK_NOT_IMPLEMENTED(supported, "geosft::", op,
                              " is not supported under torch.func.grad, vjp, jvp, jacrev, jacfwd and hessian, nor in "
                              "forward mode: use torch.autograd");
}

void check_random_in_vmap(const char* op) {
  if (!is_transformed()) return;
  for (const at::functorch::DynamicLayer& layer : at::functorch::getDynamicLayerStack()) {
    TORCH_CHECK(
        layer.key() != at::functorch::TransformType::Vmap || layer.randomness() != at::functorch::RandomnessType::Error,
        "geosft::", op,
        " draws random numbers, which this vmap does not permit: pass randomness=\"different\" or \"same\" to "
        "vmap, or seeds to the operator");
  }
}

}  // namespace geosft
