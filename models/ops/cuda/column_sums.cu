// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/column_sums_kernel.cuh"
#include "models/ops/cuda/launch_kernels.cuh"

namespace geosft::cuda {

template const char* launch_kernels(const ColumnSumsCall<float>&, void*);
template const char* launch_kernels(const ColumnSumsCall<double>&, void*);

}  // namespace geosft::cuda
