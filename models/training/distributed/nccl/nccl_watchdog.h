// SPDX-License-Identifier: Apache-2.0
// Starts all-reduces of NCCL, and aborts them from a thread when they fail or time out.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "models/training/distributed/communicator.h"
#include "models/training/distributed/nccl/nccl_library.h"

namespace geosft::nccl {

// All-reduces run on their own stream, concurrently with computation. If one fails or times out, the watchdog thread
// aborts all of them, so that nothing waits for them any more. Their results are invalid, and the next call throws.
class NcclWatchdog {
 public:
  // Takes ownership of `group`, which this process has joined with `device`.
  NcclWatchdog(const Library& library, Group* group, at::Device device, std::chrono::milliseconds timeout);
  // Aborts unfinished all-reduces during stack unwinding.
  ~NcclWatchdog();
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

  // Sums like Communicator::all_reduce, for values on the device that are computed on the current stream.
  std::unique_ptr<Work> all_reduce(const at::Tensor& values);
  // Throws std::runtime_error with the error that the thread has noticed, if any.
  void check();
  // Aborts all all-reduces.
  void abort();
  // Returns when all all-reduces have ended; those that have not after `timeout` are aborted.
  void drain(std::chrono::milliseconds timeout);

 private:
  using Clock = std::chrono::steady_clock;
  struct Started {
    std::shared_ptr<c10::Event> done;  // null during the call
    Clock::time_point at;
  };
  Group* begin_call();
  void end_call(Result result, const std::shared_ptr<c10::Event>& done);
  void require_group() const;
  void watch();
  void poll();
  void fail(const std::string& reason);
  void abort_group();
  bool idle() const;

  Library library_;
  Group* group_;  // null once aborted
  at::Device device_;
  c10::Stream stream_;  // of the all-reduces
  std::chrono::milliseconds timeout_;
  std::shared_ptr<std::list<at::Tensor>> abandoned_;  // values that were not waited for; used by the calling thread
  std::mutex mutex_;                                  // guards the group and the members below
  std::condition_variable changed_;
  bool stopping_ = false;
  std::string failure_;
  std::optional<Started> last_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace geosft::nccl
