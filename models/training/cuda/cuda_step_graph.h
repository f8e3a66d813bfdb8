// SPDX-License-Identifier: Apache-2.0
// Declares the interface of libgeosft_cuda_graph.so. It is loaded with dlopen when steps are to be replayed, after
// LibTorch's CUDA libraries, which resolve its symbols: nothing links it, and it links none of them.
#pragma once

#include <cstdint>

#include "models/training/step_graph.h"

namespace geosft {

// Name of the function `StepGraph* geosft_make_cuda_step_graph(int64_t device)`: a CUDA graph on the GPU with that
// index.
inline constexpr const char* make_cuda_step_graph_name = "geosft_make_cuda_step_graph";
using MakeCudaStepGraph = StepGraph* (*)(int64_t device);

}  // namespace geosft
