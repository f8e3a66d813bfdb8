// SPDX-License-Identifier: Apache-2.0
// Processes that talk by TCP, where no MPI connects them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "models/training/communicator.h"

namespace geosft {

// Where processes that were started together find each other: a TCPStore of LibTorch, as torchrun has it.
struct MeetingPoint {
  std::string address;                 // of the machine of process 0
  uint16_t port = 29500;               // of the store there
  int64_t rank = 0;                    // of this process
  int64_t size = 1;                    // of all of them together
  bool has_store = false;              // the launcher holds the store; otherwise process 0 does
  std::string round = "0";             // other than those of earlier starts at the same store
  std::chrono::seconds patience{300};  // with the others, which come later
};

// Joins the processes, all of which call it. Process 0 adds up what the others send it, in the order of their ranks,
// and sends them the sum, in a thread beside: meant for few processes, as all bytes go through one. Deleting the
// result, or ending without, ends the others, unless they have all met before. Throws std::runtime_error where the
// store or a process is not there in time.
std::unique_ptr<Communicator> join_by_sockets(const MeetingPoint& point);

}  // namespace geosft
