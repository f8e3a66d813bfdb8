// SPDX-License-Identifier: Apache-2.0
// What LibTorch is told of the emulated GPU, once a program.
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::emulated_gpu {

C10_REGISTER_GUARD_IMPL(HPU, Guard);
TORCH_LIBRARY_IMPL(_, HPU, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&call>());
}
TORCH_LIBRARY_IMPL(aten, HPU, m) {
  m.impl("copy_", torch::CppFunction::makeFromBoxedFunction<&call>());
}
// Else these were composed, as on a device that has no kernels of them.
TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  m.impl("_primal_attention_forward", torch::CppFunction::makeFromBoxedFunction<&call>());
  m.impl("_primal_attention_backward", torch::CppFunction::makeFromBoxedFunction<&call>());
}

}  // namespace geosft::test::emulated_gpu

namespace at {
using EmulatedHooks = geosft::test::emulated_gpu::Hooks;
C10_REGISTER_CLASS(HPUHooksRegistry, HPUHooks, EmulatedHooks);
}  // namespace at
