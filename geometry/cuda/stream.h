// SPDX-License-Identifier: Apache-2.0
// The device and the stream that kernels run on: the one place that knows them. Both are reached through LibTorch's
// interface for any device, so nothing here needs LibTorch's CUDA libraries until there is a CUDA tensor.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

namespace geosft::cuda {

// While it lives, `device` is the current one.
class Stream {
 public:
  explicit Stream(const at::Device& device);

  // The current stream of the device, a cudaStream_t.
  void* get() const { return stream_; }

 private:
  c10::DeviceGuard guard_;
  void* stream_;
};

// Throws an error with the text of a launch's error and the operator's name, unless there is none.
void check_launch(const char* error, const char* op);

}  // namespace geosft::cuda
