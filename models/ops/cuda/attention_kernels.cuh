// SPDX-License-Identifier: Apache-2.0
// The attention kernels, for the sources that instantiate them.
#pragma once

#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/attention_grid.h"
#include "models/ops/cuda/attention_launch.h"

namespace geosft::cuda {

template <class BiasTraits, typename T>
const char* launch_forward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                           const ForwardTargets<T>& to, void* stream) {
  Launch launch(stream);
  forward_grids<BiasTraits, T>(problem, bias, to, launch);
  return launch.error();
}

template <class BiasTraits, typename T>
const char* launch_backward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                            const BackwardTargets<T>& to, void* stream) {
  Launch launch(stream);
  backward_grids<BiasTraits, T>(problem, bias, to, launch);
  return launch.error();
}

}  // namespace geosft::cuda

#define GEOSFT_FORWARD_KERNELS(BiasTraits, T)                                                                 \
  template const char* launch_forward<BiasTraits, T>(const AttentionArrays<T>&, const BiasTraits::Arrays<T>&, \
                                                     const ForwardTargets<T>&, void*);
#define GEOSFT_BACKWARD_KERNELS(BiasTraits, T)                                                                 \
  template const char* launch_backward<BiasTraits, T>(const AttentionArrays<T>&, const BiasTraits::Arrays<T>&, \
                                                      const BackwardTargets<T>&, void*);
