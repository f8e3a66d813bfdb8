// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

// Enqueues the grids of a PrimalTask, PrimalPooling, PrimalUnpooling or PrimalItemSums on `stream` (a cudaStream_t) of
// the current device; an error's text, or null.
template <class Arrays>
const char* launch_primal(const Arrays& in, void* stream);

}  // namespace geosft::cuda
