// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ops/cuda/gather_pairs_kernel.cuh"

namespace geosft::cuda {

// Enqueue on `stream` (a cudaStream_t) of the current device; an error's text, or null.
template <typename T>
const char* launch_gather(const PairGather<T>& in, void* stream);
template <typename T>
const char* launch_gather(const PairScatter<T>& in, void* stream);
template <typename T>
const char* launch_gather(const PairWeights<T>& in, void* stream);

}  // namespace geosft::cuda
