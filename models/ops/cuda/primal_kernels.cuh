// SPDX-License-Identifier: Apache-2.0
// The kernels of primal_attention, for the sources that instantiate them.
#pragma once

#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/primal_grids.h"
#include "models/ops/cuda/primal_launch.h"

namespace geosft::cuda {

template <class Arrays>
const char* launch_primal(const Arrays& in, void* stream) {
  Launch launch(stream);
  primal_grids(in, launch);
  return launch.error();
}

}  // namespace geosft::cuda

#define GEOSFT_PRIMAL_KERNELS(T)                                        \
  template const char* launch_primal(const PrimalTask<T>&, void*);      \
  template const char* launch_primal(const PrimalPooling<T>&, void*);   \
  template const char* launch_primal(const PrimalUnpooling<T>&, void*); \
  template const char* launch_primal(const PrimalItemSums<T>&, void*);
