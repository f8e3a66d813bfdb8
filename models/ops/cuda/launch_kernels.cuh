// SPDX-License-Identifier: Apache-2.0
// For sources that instantiate launch_kernels (kernel_launcher.h). A call has a function run_grids(call, run) in its
// kernel header, which lists the call's grids for a GPU and for the emulation alike.
#pragma once

#include "geometry/cuda/launch.cuh"

namespace geosft::cuda {

template <class Call>
const char* launch_kernels(const Call& call, void* stream) {
  Launch launch(stream);
  run_grids(call, launch);
  return launch.error();
}

}  // namespace geosft::cuda
