// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/seeded_dropout_kernel.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const DropoutCall<float>&, void*);
template const char* launch_kernels(const DropoutCall<double>&, void*);

}  // namespace geosft::cuda
