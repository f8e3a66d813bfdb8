// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/primal_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const PrimalTask<float>&, void*);
template const char* launch_kernels(const PrimalPooling<float>&, void*);
template const char* launch_kernels(const PrimalUnpooling<float>&, void*);
template const char* launch_kernels(const PrimalItemSums<float>&, void*);

}  // namespace geosft::cuda
