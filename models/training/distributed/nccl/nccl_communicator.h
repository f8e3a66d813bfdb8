// SPDX-License-Identifier: Apache-2.0
// All-reduces tensors on GPUs by NCCL, and tensors on the CPU by another communicator. Each process has one GPU.
#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <memory>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

struct NcclOptions {
  std::string library = "libnccl.so.2";            // loaded already by LibTorch for CUDA
  std::chrono::milliseconds timeout{600000};       // of an all-reduce
  std::chrono::milliseconds drain_timeout{10000};  // of Communicator::drain
};

// Connects the GPUs of the processes of `connected` (MPI or sockets), all of which call it. `connected` must outlive
// the result, and all-reduces tensors on the CPU. `device` is the GPU of this process, a different one in each. An
// all-reduce waits for the work enqueued on the current stream, and runs on its own stream; wait() makes the current
// stream wait for it, and returns immediately.
//
// Asynchronous errors of NCCL (in the network or in another process) are detected within a second, and all-reduces that
// do not end within `timeout`. All-reduces are then aborted, and the next one, on the GPU or the CPU, throws
// std::runtime_error with the reason, before invalid results are used. Also throws if the library or the GPUs cannot be
// used.
std::unique_ptr<Communicator> make_nccl_communicator(const Communicator& connected, at::Device device,
                                                     const NcclOptions& options = {});

}  // namespace geosft
