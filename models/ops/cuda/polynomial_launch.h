// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// Enqueues a stage on `stream` (a cudaStream_t) of the current device; an error's text, or null.
template <class Stage, typename T>
const char* launch_polynomial(Stage stage, const PolynomialTask<T>& task, void* stream);

}  // namespace geosft::cuda
