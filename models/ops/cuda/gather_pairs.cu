// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/gather_pairs_kernel.cuh"
#include "models/ops/cuda/launch_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const PairGather<float>&, void*);
template const char* launch_kernels(const PairGather<double>&, void*);
template const char* launch_kernels(const PairScatter<float>&, void*);
template const char* launch_kernels(const PairScatter<double>&, void*);
template const char* launch_kernels(const PairWeights<float>&, void*);
template const char* launch_kernels(const PairWeights<double>&, void*);

}  // namespace geosft::cuda
