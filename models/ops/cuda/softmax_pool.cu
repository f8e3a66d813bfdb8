// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/softmax_pool_kernel.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const PoolForward<float>&, void*);
template const char* launch_kernels(const PoolForward<double>&, void*);
template const char* launch_kernels(const PoolBackward<float>&, void*);
template const char* launch_kernels(const PoolBackward<double>&, void*);

}  // namespace geosft::cuda
