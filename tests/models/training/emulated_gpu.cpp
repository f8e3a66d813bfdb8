// SPDX-License-Identifier: Apache-2.0
// What LibTorch is told of the emulated GPU, once a program.
#include "tests/models/training/emulated_gpu.h"

#include <ATen/autocast_mode.h>

namespace geosft::test::emulated_gpu {

C10_REGISTER_GUARD_IMPL(HPU, Guard);
TORCH_LIBRARY_IMPL(_, HPU, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&call>());
}
TORCH_LIBRARY_IMPL(aten, HPU, m) {
  for (const char* name : {"copy_", "convolution", "convolution_backward"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&call>());
  }
}

// Autocast as a GPU has it, by the lists that LibTorch has for any device. The CPU's are others.
TORCH_LIBRARY_IMPL(_, AutocastHPU, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, AutocastHPU, m) {
  using namespace at;  // as the lists are written
#define GEOSFT_LOWER(...) KERNEL(c10::DeviceType::HPU, __VA_ARGS__, lower_precision_fp)
#define GEOSFT_FLOAT32(...) KERNEL(c10::DeviceType::HPU, __VA_ARGS__, fp32)
#define GEOSFT_INTO_FLOAT32(...) KERNEL(c10::DeviceType::HPU, __VA_ARGS__, fp32_set_opt_dtype)
#define GEOSFT_WIDEST(...) KERNEL(c10::DeviceType::HPU, __VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(GEOSFT_LOWER)
  AT_FORALL_FP32(GEOSFT_FLOAT32)
  AT_FORALL_FP32_SET_OPT_DTYPE(GEOSFT_INTO_FLOAT32)
  AT_FORALL_PROMOTE(GEOSFT_WIDEST)
#define GEOSFT_NORM(...) KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::HPU, __VA_ARGS__)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(GEOSFT_NORM)
#undef GEOSFT_NORM
#undef GEOSFT_LOWER
#undef GEOSFT_FLOAT32
#undef GEOSFT_INTO_FLOAT32
#undef GEOSFT_WIDEST
}

}  // namespace geosft::test::emulated_gpu

namespace at {
using EmulatedHooks = geosft::test::emulated_gpu::Hooks;
C10_REGISTER_CLASS(HPUHooksRegistry, HPUHooks, EmulatedHooks);
}  // namespace at
