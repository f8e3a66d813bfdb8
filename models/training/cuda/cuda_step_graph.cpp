// SPDX-License-Identifier: Apache-2.0
#include "models/training/cuda/cuda_step_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

namespace geosft {
namespace {

class CudaStepGraph : public StepGraph {
 public:
  explicit CudaStepGraph(at::Device device) : device_(device) {}

  void capture(const std::function<void()>& work) override {
    const c10::DeviceGuard there(device_);
    const c10::impl::VirtualGuardImpl gpus(device_.type());
    gpus.synchronizeDevice(device_.index());
    // The graph has memory of its own: what steps before it have left is given back first.
    c10::cuda::CUDACachingAllocator::emptyCache();
    // Not the default stream, on which nothing can be captured. The backward pass follows it in its own thread.
    const c10::StreamGuard aside(gpus.getStreamFromGlobalPool(device_));
    // What other threads do meanwhile, those of a loader say, is no part of the capture and does not break it off.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      break_off();
      throw;
    }
    graph_.capture_end();
  }

  void replay() override { graph_.replay(); }

 private:
  // The stream must not stay in capture; that the graph is none is what the error on its way is about.
  void break_off() {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {
      graph_.reset();
    }
  }

  at::Device device_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace geosft

extern "C" __attribute__((visibility("default"))) geosft::StepGraph* geosft_make_cuda_step_graph(int64_t device) {
  return new geosft::CudaStepGraph(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device)));
}
