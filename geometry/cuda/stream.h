// SPDX-License-Identifier: Apache-2.0
// The current device and stream of kernels. Both are reached through LibTorch's device-independent interface, so
// LibTorch's CUDA libraries are not needed until there is a CUDA tensor.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

namespace geosft::cuda {

// Makes `device` the current one while it lives.
class Stream {
 public:
  explicit Stream(const at::Device& device);

  // The current stream of the device, a cudaStream_t.
  void* get() const { return stream_; }

 private:
  c10::DeviceGuard guard_;
  void* stream_;
};

// Throws an error with the operator's name and the text `error` of a launch, unless it is null.
void check_launch(const char* error, const char* op);

}  // namespace geosft::cuda
