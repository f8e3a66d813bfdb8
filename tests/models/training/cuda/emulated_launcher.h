// SPDX-License-Identifier: Apache-2.0
// Takes the place of cuda::KernelLauncher: kernels run block by block, and a capture notes them.
#pragma once

#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::emulated_gpu {

struct EmulatedLauncher {
  EmulatedLauncher(const at::Device&, const char* /*op*/) {}
  template <class Call>
  void operator()(const Call& call) const {
    launch([call] { run_grids(call, EmulatedGrids<ThreadOrder::kAscending>()); });
  }
};

}  // namespace geosft::test::emulated_gpu
