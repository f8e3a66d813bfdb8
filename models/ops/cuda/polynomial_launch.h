// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// Enqueue on `stream` (a cudaStream_t) of the current device; an error's text, or null.
template <typename T>
const char* launch_polynomial(const PolynomialForward<T>& in, void* stream);
template <typename T>
const char* launch_polynomial(const PolynomialBackward<T>& in, void* stream);

// Whether what is enqueued on `stream` goes into a CUDA graph, where nothing may be copied from the host.
bool is_captured(void* stream);

}  // namespace geosft::cuda
