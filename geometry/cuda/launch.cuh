// SPDX-License-Identifier: Apache-2.0
// Launches kernels and checks every launch; the only file that launches kernels.
#pragma once

#include <cuda_runtime.h>

#include "geometry/cuda/block.h"

namespace geosft::cuda {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kBlockThreads)
    block_kernel(const __grid_constant__ typename Kernel::Arguments arguments) {
  DeviceBlock block;
  Kernel::run(block, arguments);
}

// Enqueues grids of blocks on a stream of the current device, in order, until the first error.
class Launch {
 public:
  explicit Launch(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}

  template <class Kernel>
  void grid(int64_t x, int64_t y, const typename Kernel::Arguments& arguments) {
    constexpr size_t kShared = sizeof(typename Kernel::Tiles), kWithoutAsking = 48 << 10;
    static_assert(kShared <= 163 << 10, "the shared memory of a block on sm_80");
    if (status_ != cudaSuccess || x < 1 || y < 1) return;
    if (x > INT32_MAX || y > UINT16_MAX) {
      status_ = cudaErrorInvalidConfiguration;
      too_large_ = true;
      return;
    }
    const auto kernel = block_kernel<Kernel>;
    if (kShared > kWithoutAsking) {
      status_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kShared));
      if (status_ != cudaSuccess) return;
    }
    kernel<<<dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)), Kernel::kBlockThreads, kShared, stream_>>>(
        arguments);
    status_ = cudaGetLastError();
  }

  const char* error() const {
    if (too_large_) return "the call needs more than 2^31 - 1 blocks of threads, or has more than 65,535 heads";
    return status_ == cudaSuccess ? nullptr : cudaGetErrorString(status_);
  }

 private:
  cudaStream_t stream_;
  cudaError_t status_ = cudaSuccess;
  bool too_large_ = false;
};

template <class Call>
const char* launch_kernels(const Call& call, void* stream) {
  Launch launch(stream);
  run_grids(call, launch);
  return launch.error();
}

}  // namespace geosft::cuda
