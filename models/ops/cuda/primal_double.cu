// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/primal_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const PrimalTask<double>&, void*);
template const char* launch_kernels(const PrimalPooling<double>&, void*);
template const char* launch_kernels(const PrimalUnpooling<double>&, void*);
template const char* launch_kernels(const PrimalItemSums<double>&, void*);

}  // namespace geosft::cuda
