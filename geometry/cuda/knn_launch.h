// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "geometry/cuda/knn_tile.h"

namespace geosft::cuda {

// Enqueues on `stream` (a cudaStream_t) of the current device; an error's text, or null.
const char* launch_knn(const KnnSearch<float>& in, void* stream);
const char* launch_knn(const KnnSearch<double>& in, void* stream);

}  // namespace geosft::cuda
