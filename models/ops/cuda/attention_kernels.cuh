// SPDX-License-Identifier: Apache-2.0
// The attention kernels, for the sources that instantiate them.
#pragma once

#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/attention_grid.h"
#include "models/ops/cuda/attention_launch.h"

namespace geosft::cuda {

template <class Relation, typename T>
const char* launch_forward(const AttentionArrays<T>& problem, const typename Relation::template Arrays<T>& relation,
                           const ForwardTargets<T>& to, void* stream) {
  Launch launch(stream);
  forward_grids<Relation, T>(problem, relation, to, launch);
  return launch.error();
}

template <class Relation, typename T>
const char* launch_backward(const AttentionArrays<T>& problem, const typename Relation::template Arrays<T>& relation,
                            const BackwardTargets<T>& to, void* stream) {
  Launch launch(stream);
  backward_grids<Relation, T>(problem, relation, to, launch);
  return launch.error();
}

}  // namespace geosft::cuda

#define GEOSFT_FORWARD_KERNELS(Relation, T)                                                               \
  template const char* launch_forward<Relation, T>(const AttentionArrays<T>&, const Relation::Arrays<T>&, \
                                                   const ForwardTargets<T>&, void*);
#define GEOSFT_BACKWARD_KERNELS(Relation, T)                                                               \
  template const char* launch_backward<Relation, T>(const AttentionArrays<T>&, const Relation::Arrays<T>&, \
                                                    const BackwardTargets<T>&, void*);
