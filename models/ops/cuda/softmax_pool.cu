// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/softmax_pool_launch.h"

namespace geosft::cuda {

template <typename T>
const char* launch_pool(const PoolForward<T>& in, void* stream) {
  Launch launch(stream);
  pool_forward_grids(in, launch);
  return launch.error();
}

template <typename T>
const char* launch_pool(const PoolBackward<T>& in, void* stream) {
  Launch launch(stream);
  pool_backward_grids(in, launch);
  return launch.error();
}

template const char* launch_pool<float>(const PoolForward<float>&, void*);
template const char* launch_pool<double>(const PoolForward<double>&, void*);
template const char* launch_pool<float>(const PoolBackward<float>&, void*);
template const char* launch_pool<double>(const PoolBackward<double>&, void*);

}  // namespace geosft::cuda
