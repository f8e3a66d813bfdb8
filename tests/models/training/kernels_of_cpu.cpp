// SPDX-License-Identifier: Apache-2.0
// The operators of the emulated GPU in a build without CUDA kernels: the CPU's. Those that are here would be composed.
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::emulated_gpu {

TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  m.impl("_primal_attention_forward", torch::CppFunction::makeFromBoxedFunction<&call>());
  m.impl("_primal_attention_backward", torch::CppFunction::makeFromBoxedFunction<&call>());
}

}  // namespace geosft::test::emulated_gpu
