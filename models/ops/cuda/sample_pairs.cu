// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/sample_pairs_kernel.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const PairSampling<float>&, void*);
template const char* launch_kernels(const PairSampling<double>&, void*);

}  // namespace geosft::cuda
