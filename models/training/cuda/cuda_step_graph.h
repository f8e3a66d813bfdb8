// SPDX-License-Identifier: Apache-2.0
// What libgeosft_cuda_graph.so gives. It is loaded when steps are to be replayed, after LibTorch's CUDA libraries, in
// which it finds what it calls: nothing is linked with it, and it with none of them.
#pragma once

#include <cstdint>

#include "models/training/step_graph.h"

namespace geosft {

// Name of the function, as in `StepGraph* geosft_make_cuda_step_graph(int64_t device)`: a CUDA graph on the GPU of that
// number.
inline constexpr const char* make_cuda_step_graph_name = "geosft_make_cuda_step_graph";
using MakeCudaStepGraph = StepGraph* (*)(int64_t device);

}  // namespace geosft
