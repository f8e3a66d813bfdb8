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

}  // namespace geosft::cuda
