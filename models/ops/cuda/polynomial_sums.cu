// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/polynomial_grids.h"

namespace geosft::cuda {

template const char* launch_kernels(const PolynomialCall<MonomialTableStage, float>&, void*);
template const char* launch_kernels(const PolynomialCall<MonomialTableStage, double>&, void*);
template const char* launch_kernels(const PolynomialCall<MonomialSumStage, float>&, void*);
template const char* launch_kernels(const PolynomialCall<MonomialSumStage, double>&, void*);

}  // namespace geosft::cuda
