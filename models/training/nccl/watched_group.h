// SPDX-License-Identifier: Apache-2.0
// Sums over GPUs, and the thread that looks whether they are still going on.
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

#include "models/training/communicator.h"
#include "models/training/nccl/nccl_library.h"

namespace geosft::nccl {

// Sums run on a stream of their own, beside the one that computes. Where one is broken off by an error of NCCL, or does
// not end, the thread takes all of them off the GPU, so that nobody waits for them any more; what they have left is no
// sum, and the next call says so.
class WatchedGroup {
 public:
  // Takes over `group`, which this process is in with `device`.
  WatchedGroup(const Library& library, Group* group, at::Device device, std::chrono::milliseconds patience);
  // Where an exception is on its way, what is left of the sums is dropped.
  ~WatchedGroup();
  WatchedGroup(const WatchedGroup&) = delete;
  WatchedGroup& operator=(const WatchedGroup&) = delete;

  // As Communicator::start_sum, of values on the device that the current stream computes.
  std::unique_ptr<PendingSum> start_sum(const at::Tensor& values);
  // Throws std::runtime_error with what the thread has met.
  void check();
  // Takes all sums off the GPU.
  void abort();
  // Returns when all sums are over; those that are not after `grace` are taken off the GPU.
  void end_sums(std::chrono::milliseconds grace);

 private:
  using Clock = std::chrono::steady_clock;
  struct Started {
    std::shared_ptr<c10::Event> done;  // null while the call is under way
    Clock::time_point at;
  };
  Group* begin_call();
  void end_call(Result result, const std::shared_ptr<c10::Event>& done);
  void require_group() const;
  void watch();
  void look();
  void fail(const std::string& reason);
  void drop();
  bool idle() const;

  Library library_;
  Group* group_;  // null once it was dropped
  at::Device device_;
  c10::Stream stream_;  // of the sums
  std::chrono::milliseconds patience_;
  std::shared_ptr<std::list<at::Tensor>> left_;  // values of sums that were not waited for; of the calling thread
  std::mutex mutex_;                             // of what follows, and of the group
  std::condition_variable ended_;
  bool over_ = false;
  std::string failure_;
  std::optional<Started> last_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace geosft::nccl
