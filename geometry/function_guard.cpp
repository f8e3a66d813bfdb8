// SPDX-License-Identifier: Apache-2.0
#include "geometry/function_guard.h"

#include <ATen/FuncTorchTLS.h>
#include <ATen/functorch/DynamicLayer.h>

namespace geosft {
namespace {

// Asking for the transforms themselves would create the state of a thread that has none.
bool is_transformed() {
  return at::functorch::functorchTLSAccessor() != nullptr && !at::functorch::getDynamicLayerStack().empty();
}

}  // namespace

FunctionGuard::FunctionGuard(const char* op, at::TensorList inputs) : transformed_(is_transformed()) {
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK_NOT_IMPLEMENTED(!input.defined() || !input._fw_grad(/*level=*/0).defined(), "geosft::", op,
                                " has no forward-mode derivative (torch.func.jvp, jacfwd, hessian): use vjp or jacrev");
  }
  if (!transformed_) return;
  allowed_ = at::functorch::getSingleLevelAutogradFunctionAllowed();
  at::functorch::setSingleLevelAutogradFunctionAllowed(true);
}

FunctionGuard::~FunctionGuard() {
  if (transformed_) at::functorch::setSingleLevelAutogradFunctionAllowed(allowed_);
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
