// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/edge_sum_kernel.cuh"
#include "models/ops/cuda/launch_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const EdgeSumCall<float>&, void*);
template const char* launch_kernels(const EdgeSumCall<double>&, void*);
template const char* launch_kernels(const EdgeSumGradientCall<float>&, void*);
template const char* launch_kernels(const EdgeSumGradientCall<double>&, void*);

}  // namespace geosft::cuda
