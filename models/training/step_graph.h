// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace geosft {

// Work of a device that is enqueued once and can be done again without the program: a CUDA graph.
class StepGraph {
 public:
  virtual ~StepGraph() = default;
  // Notes what `work` enqueues on the device, without doing it; all of it is on the current stream, and of tensors that
  // outlive the graph, or of memory that is the graph's. Throws what `work` throws, and c10::Error for what cannot be
  // captured: what waits for the device, or copies to it from memory that is not page-locked. Once.
  virtual void capture(const std::function<void()>& work) = 0;
  // Enqueues what was captured, on the current stream.
  virtual void replay() = 0;
};

using StepGraphMaker = std::function<std::unique_ptr<StepGraph>()>;

}  // namespace geosft
