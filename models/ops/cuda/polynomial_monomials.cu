// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/launch_kernels.cuh"
#include "models/ops/cuda/polynomial_grids.h"

namespace geosft::cuda {

template const char* launch_kernels(const PolynomialStageCall<MonomialStage, float>&, void*);
template const char* launch_kernels(const PolynomialStageCall<MonomialStage, double>&, void*);

}  // namespace geosft::cuda
