// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/polynomial_grids.h"

namespace geosft::cuda {

template const char* launch_kernels(const PolynomialStageCall<MonomialTableStage, float>&, void*);
template const char* launch_kernels(const PolynomialStageCall<MonomialTableStage, double>&, void*);
template const char* launch_kernels(const PolynomialStageCall<MonomialSumStage, float>&, void*);
template const char* launch_kernels(const PolynomialStageCall<MonomialSumStage, double>&, void*);

}  // namespace geosft::cuda
