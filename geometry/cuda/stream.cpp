// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace geosft::cuda {
namespace {

void* current_stream(const at::Device& device) {
  const c10::impl::VirtualGuardImpl backend(device.type());
  return backend.getStreamNativeHandle(backend.getStream(device));
}

}  // namespace

Stream::Stream(const at::Device& device) : guard_(device), stream_(current_stream(device)) {}

void check_launch(const char* error, const char* op) {
  TORCH_CHECK(!error, op, ": CUDA did not take a kernel: ", error);
}

}  // namespace geosft::cuda
