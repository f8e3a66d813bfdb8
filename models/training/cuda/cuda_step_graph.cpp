// SPDX-License-Identifier: Apache-2.0
#include "models/training/step_graph.h"

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
    // The graph has its own memory pool: the cached memory of earlier steps is released first.
    c10::cuda::CUDACachingAllocator::emptyCache();
    // The default stream cannot be captured. The backward pass uses the same stream in its own thread.
    const c10::StreamGuard aside(gpus.getStreamFromGlobalPool(device_));
    // Calls of other threads, such as loaders, are not captured and do not invalidate the capture.
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
  // Ends the capture of the stream; the invalid graph is discarded, as an exception is being thrown.
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
