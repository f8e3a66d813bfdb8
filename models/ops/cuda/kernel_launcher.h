// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "geometry/cuda/stream.h"

namespace geosft::cuda {

// Enqueues the grids of a call, such as PoolForward<float>, on `stream` (a cudaStream_t) of the current device. Returns
// an error message, or null. Defined in launch_kernels.cuh and instantiated by the operators' .cu files.
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
