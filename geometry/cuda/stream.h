// SPDX-License-Identifier: Apache-2.0
// Sets the current device and returns its stream through LibTorch's device-independent interface, so LibTorch's CUDA
// libraries are not needed until there is a CUDA tensor.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

namespace geosft::cuda {

// A guard that makes `device` current during its lifetime.
class Stream {
 public:
  explicit Stream(const at::Device& device);

  // Returns the current stream of the device, a cudaStream_t.
  void* get() const { return stream_; }

 private:
  c10::DeviceGuard guard_;
  void* stream_;
};

// Throws an error with the operator's name and the text `error` of a launch, unless it is null.
void check_launch(const char* error, const char* op);

// Enqueues the grids of a call, such as KnnSearch<float>, on `stream` (a cudaStream_t) of the current device. Returns
// an error message, or null. Each kernel header lists the grids of its calls in run_grids(call, run), for a GPU and for
// the emulation in tests alike. Defined in launch.cuh and instantiated by sources that CMake generates from a list.
template <class Call>
const char* launch_kernels(const Call& call, void* stream);

// Launches calls of the operator `op` on the current stream of a device, which is made the current device for its
// lifetime.
class KernelLauncher {
 public:
  KernelLauncher(const at::Device& device, const char* op) : stream_(device), op_(op) {}

  template <class Call>
  void operator()(const Call& call) const {
    check_launch(launch_kernels(call, stream_.get()), op_);
  }

 private:
  Stream stream_;
  const char* op_;
};

}  // namespace geosft::cuda
