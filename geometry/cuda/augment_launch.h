// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "geometry/cuda/augment_tile.h"

namespace geosft::cuda {

// Enqueues on `stream` (a cudaStream_t) of the current device; an error's text, or null.
const char* launch_augmentation(const CloudBatch<float>& in, void* stream);
const char* launch_augmentation(const CloudBatch<double>& in, void* stream);

}  // namespace geosft::cuda
