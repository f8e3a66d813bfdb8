// SPDX-License-Identifier: Apache-2.0
// Processes with a GPU each: NCCL sums what is on the GPUs, whatever connects the processes does the rest.
#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <memory>
#include <string>

#include "models/training/communicator.h"

namespace geosft {

struct NcclOptions {
  std::string library = "libnccl.so.2";        // LibTorch for CUDA has loaded it
  std::chrono::milliseconds patience{600000};  // with a sum that does not end
  std::chrono::milliseconds grace{10000};      // for sums of a process that waits for them no more (end_sums)
};

// Joins the GPUs of the processes that `connected` (by MPI or by sockets) connects, all of which call it; it must
// outlive the result, and carries what is on the CPU. `device`: the GPU of this process, another one in each. A sum of
// values on it waits for what the current stream has been given, and runs on a stream of its own; wait() lets the
// stream that is current then wait for it, and the program goes on.
//
// An error that NCCL meets later, in the network or in another process, and a sum that does not end are noticed within
// a second and `patience`: sums are broken off, and the next one, on the GPU or the CPU, throws std::runtime_error with
// the reason, before anybody takes what is on the GPU for a sum. Throws it too where the library or the GPUs cannot be
// used.
std::unique_ptr<Communicator> join_by_nccl(const Communicator& connected, at::Device device,
                                           const NcclOptions& options = {});

}  // namespace geosft
