// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/gated_edge_sum_kernel.cuh"
#include "models/ops/cuda/launch_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const GatedSumCall<float>&, void*);
template const char* launch_kernels(const GatedSumCall<double>&, void*);
template const char* launch_kernels(const GatedSumGradientCall<float>&, void*);
template const char* launch_kernels(const GatedSumGradientCall<double>&, void*);

}  // namespace geosft::cuda
