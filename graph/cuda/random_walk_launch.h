// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/cuda/random_walk_tile.h"

namespace geosft::cuda {

// Enqueues on `stream` (a cudaStream_t) of the current device; an error's text, or null.
const char* launch_walks(const RandomWalks<float>& in, void* stream);
const char* launch_walks(const RandomWalks<double>& in, void* stream);

}  // namespace geosft::cuda
