// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ops/cuda/seeded_dropout_kernel.cuh"

namespace geosft::cuda {

// Enqueues on `stream` (a cudaStream_t) of the current device; an error's text, or null.
const char* launch_dropout(const DropoutCall<float>& in, void* stream);
const char* launch_dropout(const DropoutCall<double>& in, void* stream);

}  // namespace geosft::cuda
