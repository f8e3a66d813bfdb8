// SPDX-License-Identifier: Apache-2.0
// Defines the interface of CUDA graphs, which libgeosft_cuda_graph.so implements. It is loaded with dlopen when steps
// are to be replayed, after LibTorch's CUDA libraries, which resolve its symbols: nothing links it, and it links none
// of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace geosft {

// Device work that is captured once and can be replayed.
class StepGraph {
 public:
  virtual ~StepGraph() = default;
  // Captures what `work` enqueues on the current stream, without executing it. Its tensors must outlive the graph, or
  // be allocated during the capture. Throws what `work` throws, and c10::Error for what cannot be captured:
  // synchronisation, and copies from memory that is not pinned. Called once.
  virtual void capture(const std::function<void()>& work) = 0;
  // Enqueues the captured work on the current stream.
  virtual void replay() = 0;
};

using StepGraphMaker = std::function<std::unique_ptr<StepGraph>()>;

// Name of that library's function `StepGraph* geosft_make_cuda_step_graph(int64_t device)`: a CUDA graph on the GPU
// with that index.
inline constexpr const char* make_cuda_step_graph_name = "geosft_make_cuda_step_graph";
using MakeCudaStepGraph = StepGraph* (*)(int64_t device);

}  // namespace geosft
