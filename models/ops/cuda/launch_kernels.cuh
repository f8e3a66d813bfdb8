// SPDX-License-Identifier: Apache-2.0
// Defines launch_kernels (kernel_launcher.h) for the sources that instantiate it. Each kernel header has a function
// run_grids(call, run), which lists the grids of a call for a GPU and for the emulation alike.
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
