// SPDX-License-Identifier: Apache-2.0
// Implements all-reduces over TCP, for processes that were started without MPI.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "models/training/distributed/communicator.h"

namespace geosft {

// Rendezvous of the processes: a TCPStore of LibTorch, as with torchrun.
struct RendezvousOptions {
  std::string address;                // of the machine of rank 0
  uint16_t port = 29500;              // of the store there
  int64_t rank = 0;                   // of this process
  int64_t size = 1;                   // number of processes
  bool has_store = false;             // the launcher runs the store; otherwise rank 0 does
  std::string round = "0";            // differs between restarts that use the same store
  std::chrono::seconds timeout{300};  // until all processes have connected
};

// Connects the processes, all of which call it. In a background thread, rank 0 adds the values of the others in rank
// order and sends them the sum: meant for few processes, as all data pass through rank 0. Deleting the result, or
// exiting without deleting it, ends the others unless all have passed a barrier before. Throws std::runtime_error if
// the store or a process cannot be reached within the timeout.
std::unique_ptr<Communicator> make_socket_communicator(const RendezvousOptions& options);

}  // namespace geosft
