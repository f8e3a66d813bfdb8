// SPDX-License-Identifier: Apache-2.0
// The kernels of polynomial_attention, for the sources that instantiate them.
#pragma once

#include "geometry/cuda/launch.cuh"
#include "models/ops/cuda/polynomial_grids.h"
#include "models/ops/cuda/polynomial_launch.h"

namespace geosft::cuda {

template <class Stage, typename T>
const char* launch_polynomial(Stage stage, const PolynomialTask<T>& task, void* stream) {
  Launch launch(stream);
  polynomial_grids(stage, task, launch);
  return launch.error();
}

}  // namespace geosft::cuda

#define GEOSFT_POLYNOMIAL_KERNELS(Stage, T) \
  template const char* launch_polynomial<Stage, T>(Stage, const PolynomialTask<T>&, void*);
